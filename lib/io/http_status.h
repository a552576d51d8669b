/* The words of HTTP's status codes (RFC 9110, 15). Pure. */
#ifndef QN_IO_HTTP_STATUS_H
#define QN_IO_HTTP_STATUS_H

/* Never NULL: "Unknown" for a number without words. */
const char *qn_http_status_words(int status);

#endif
