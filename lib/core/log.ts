/**
 * One logger for the whole house: a function that takes a level, a sentence and a few fields.
 * Never given a credential or a body. Knows nothing of requests.
 */

/** Syslog's eight severities (RFC 5424), from the least to the most severe, as MCP names them. */
export type Severity = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

const severities: readonly Severity[] = [
  'debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency',
]

/** Whether a value names a severity. */
export function isSeverity(value: unknown): value is Severity {
  return severities.some((known) => known === value)
}

/** Whether a severity is at least as severe as a threshold. */
export function reaches(severity: Severity, threshold: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(threshold)
}

/** How much a line matters. `debug` and `info` are not printed by the default logger. */
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
  let line = `${new Date().toISOString()} ${level} ${printable(message)}`
  for (const [name, value] of Object.entries(fields)) {
    if (name !== 'cause' && value !== undefined) line += ` ${name}=${printable(String(value))}`
  }
  return 'cause' in fields ? `${line}\n${stackOf(fields['cause'])}` : line
}

/** A logger that cannot hurt: what `log` throws is dropped, for a broken logger must not break a request. */
export function quietly(log: Log): Log {
  return (level, message, fields) => {
    try {
      log(level, message, fields)
    } catch {
      // There is nobody left to tell.
    }
  }
}

/** Text as part of one line: what would end it, or steer a terminal, is written as an escape. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (char) => {
    return short.get(char) ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

const short: ReadonlyMap<string, string> = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t']])

function stackOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.stack ?? cause.message : `thrown: ${describe(cause)}`
  return String(text).split('\n').map((row) => '  ' + printable(row)).join('\n')
}

/** Any value as text that is fit for a log. Never throws. */
export function describe(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}

/** The server's level for a severity, where a protocol has no log of its own. */
export function logLevelOf(severity: Severity): LogLevel {
  if (severity === 'debug') return 'debug'
  if (severity === 'info' || severity === 'notice') return 'info'
  return severity === 'warning' ? 'warning' : 'error'
}
