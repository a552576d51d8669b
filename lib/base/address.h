/* Removes parts of URLs that may hold secrets (user names, passwords, queries and fragments) before
 * a URL is shown in a reply, an error or the log. */
#ifndef QN_BASE_ADDRESS_H
#define QN_BASE_ADDRESS_H

/* Works in place: "scheme://user:password@host/path?query" becomes "scheme://host/path?". A text
 * that is not a URL ("owner/repo", a path) is left unchanged. */
void qn_address_strip(char *address);

/* The same for all URLs in a text, each of which ends at a blank. Punctuation and quotes after a
 * URL are kept. */
void qn_addresses_strip(char *text);

#endif
