// The page's texts.
export const LANGUAGES = ["en", "de"];

/** All texts of a language, by their keys: those of ui/strings. */
export async function texts(language) {
  return (await import(`../../ui/strings/${language}/index.js`)).default;
}
