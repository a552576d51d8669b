/* Names of voices that models commonly have. A model may have others: any name can be typed. */

/* The names of OpenAI's API, which other models translate to voices of theirs; the first is the
 * server's default. */
export const VOICES = ["shimmer", "alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx", "sage", "verse"];

const KOKORO = ["af_heart", "af_bella", "af_nicole", "af_sarah", "af_sky", "am_adam", "am_michael", "bf_emma", "bf_isabella",
    "bm_george", "bm_lewis"];

export const voicesOf = (model) => model.recipe === "kokoro" ? [...VOICES, ...KOKORO] : VOICES;
