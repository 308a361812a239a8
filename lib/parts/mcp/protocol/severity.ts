/** Severities of log messages: which is one, and which a client wants. Spec: MCP, Logging. */
import type { Severity } from '../../../kernel/define/log.ts'

const severities: readonly Severity[] = [
  'debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency',
]

export function isSeverity(value: unknown): value is Severity {
  return severities.some((known) => known === value)
}

export function reaches(severity: Severity, threshold: Severity): boolean {
  return severities.indexOf(severity) >= severities.indexOf(threshold)
}
