/** Logging: a function that takes a level, a sentence and a few fields, never a credential or a body. */
import { isThenable } from '../util/thenable.ts'
import { formatJson } from '../wire/json.ts'

/** Syslog's eight severities (RFC 5424 §6.2.1), from the least to the most severe. */
export type Severity = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** Characters that a line shows of its message, of each field, and of each line of a cause's stack. */
const MAX_TEXT = 8 * 1024
/** Lines that are shown of a cause's stack. */
const MAX_ROWS = 100

/** `debug` and `info` are not printed by the default logger. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error'

/** Takes one line. `fields.cause`, where there is one, is the thrown value behind an error. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void

/** Writes warnings and errors to standard error, one line each, with the stack of a cause below it. */
export const stderrLog: Log = (level, message, fields) => {
  if (level !== 'info') verboseStderrLog(level, message, fields)
}

/** The same, and what is only informative. */
export const verboseStderrLog: Log = (level, message, fields) => {
  if (level !== 'debug') process.stderr.write(formatLine(level, message, fields) + '\n')
}

/** One line of text: control characters are escaped, so that a client cannot write lines of its own. */
export function formatLine(
  level: LogLevel, message: string, fields: Readonly<Record<string, unknown>> = {},
): string {
  const line = `${new Date().toISOString()} ${level} ${formatText(message, fields)}`
  return 'cause' in fields ? `${line}\n${stackOf(fields['cause'])}` : line
}

/** Fields that are in the message of a line about a request. */
const inMessage: ReadonlySet<string> = new Set(['method', 'path', 'status'])

/** The same without time, level and cause. */
function formatText(message: string, fields: Readonly<Record<string, unknown>>): string {
  let text = printable(message)
  const isOfRequest = 'method' in fields && 'status' in fields
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'cause' || value === undefined || (isOfRequest && inMessage.has(name))) continue
    text += ` ${name}=${printable(String(value))}`
  }
  return text
}

/**
 * A logger as an object: `console`, and those that are shaped like it. Each line is one text with its fields
 * in it; the cause of an error comes behind it as it is.
 */
export interface Logger {
  debug(text: string, cause?: unknown): unknown
  info(text: string, cause?: unknown): unknown
  warn(text: string, cause?: unknown): unknown
  error(text: string, cause?: unknown): unknown
}

/** The logger of an option. Throws `TypeError` for what is none. */
export function logOf(given: Log | Logger | false): Log {
  if (typeof given === 'function') return given
  if (given === false) return () => {}
  if (!isLogger(given)) {
    throw new TypeError('log is no logger; write (level, message, fields) => {}, an object with debug, info, '
      + 'warn and error as console is, or false')
  }
  return (level, message, fields = {}) => {
    const text = formatText(message, fields)
    const cause = 'cause' in fields ? [fields['cause']] as const : []
    return given[level === 'warning' ? 'warn' : level](text, ...cause)
  }
}

function isLogger(value: unknown): value is Logger {
  return typeof value === 'object' && value !== null
    && ['debug', 'info', 'warn', 'error'].every((name) => typeof Reflect.get(value, name) === 'function')
}

/** A logger that never fails: an error of `log`, now or later, must not break a request. */
export function quietly(log: Log): Log {
  return (level, message, fields) => {
    try {
      const done: unknown = log(level, message, fields)
      if (isThenable(done)) Promise.resolve(done).catch(() => {})
    } catch {
      // An error of the log cannot be logged.
    }
  }
}

/** Text as part of one line: what would end it, or control a terminal, is written as an escape. */
function printable(given: string): string {
  const text = given.length <= MAX_TEXT ? given
    : `${given.slice(0, MAX_TEXT)}… (${given.length - MAX_TEXT} characters more)`
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (char) => {
    return short.get(char) ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

const short: ReadonlyMap<string, string> = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t']])

/** A thrown value with what caused it, each once: a stack, or a line. */
function stackOf(thrown: unknown): string {
  const rows: string[] = []
  const shown = new Set<unknown>()
  for (let cause = thrown; rows.length < MAX_ROWS && !shown.has(cause);) {
    const error = cause instanceof Error ? cause : undefined
    const text = String(error === undefined ? describe(cause) : error.stack ?? error.message)
    const label = shown.size > 0 ? 'caused by: ' : error === undefined ? 'thrown: ' : ''
    rows.push(...`${label}${text}`.split('\n', MAX_ROWS - rows.length))
    shown.add(cause)
    if (error?.cause === undefined) break
    cause = error.cause
  }
  return rows.map((row) => '  ' + printable(row)).join('\n')
}

/** Any value as text for a log. Never throws. */
export function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return formatJson(value) ?? String(value)
  } catch {
    return tagOf(value)
  }
}

function tagOf(value: object): string {
  try {
    return Object.prototype.toString.call(value)
  } catch {
    // A proxy may throw on any access, and a revoked one does.
    return '[object Object]'
  }
}

/** The server's level for a severity. */
export function logLevelOf(severity: Severity): LogLevel {
  if (severity === 'debug') return 'debug'
  if (severity === 'info' || severity === 'notice') return 'info'
  return severity === 'warning' ? 'warning' : 'error'
}
