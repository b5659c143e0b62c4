/* SPDX-License-Identifier: MIT */
/*
 * Levelled diagnostics, a line each, on standard error or --log-file.  Data
 * never goes here, diagnostics never go to standard output.  Thread-safe.
 */
#ifndef LOG_H
#define LOG_H

/* enum log_level: -q shows errors only, -v adds info, -vv debug. */
enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

/* log_setup sets what is shown and where: |path| NULL is standard error; the
 * string must stay.  Until it is called, errors and warnings go to standard
 * error.  Returns 0, or -1 with errno set. */
int log_setup(enum log_level level, const char *path);

/* log_reopen closes and opens the file anew (SIGHUP); no-op on stderr.  When
 * the file cannot be opened the old one stays and is told so. */
void log_reopen(void);

/* log_write writes "grpctap: " and the message, and a newline, in one piece;
 * to a --log-file the time comes first.  Control characters become `?`, so
 * that a message is one line whatever a peer or a path put into it; what does
 * not fit in LOG_LINE_MAX bytes is cut off.  It never blocks: a line that a
 * full pipe or a stopped terminal does not take is lost, and the next one that
 * is written comes after the count of those.  Of a line that was taken in part
 * the rest comes first.  errno is left as it was. */
void log_write(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* log_print writes a line that was asked for: as it is, always, on standard
 * error, and otherwise like log_write. */
void log_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* LOG_LINE_MAX bounds a line: two paths of the longest kind and a sentence
 * would be more, but no reader wants them; below PIPE_BUF. */
#define LOG_LINE_MAX 2048

#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)

#endif
