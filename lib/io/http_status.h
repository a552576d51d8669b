/* The reason phrases of HTTP status codes (RFC 9110, 15). Pure. */
#ifndef QN_IO_HTTP_STATUS_H
#define QN_IO_HTTP_STATUS_H

/* Never NULL: "Unknown" for an unknown number. */
const char *qn_http_status_words(int status);

#endif
