/* Addresses of other machines as replies, errors and lines of the log may show them: without user
 * names, passwords, queries and fragments, any of which may hold a secret. */
#ifndef QN_BASE_ADDRESS_H
#define QN_BASE_ADDRESS_H

/* In place. Of "scheme://user:password@host/path?query" stays "scheme://host/path?"; a text that is
 * no address ("owner/repo", a path) stays as it is. */
void qn_address_strip(char *address);

/* The same for all addresses in a text, in which an address ends at a blank. Punctuation and quotes
 * behind it stay. */
void qn_addresses_strip(char *text);

#endif
