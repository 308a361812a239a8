/** Addresses to which what is secret may be sent. */

/** Whether it is https, or http of this machine, which is its own way; without a user or a password. */
export function isSecureAddress(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, hostname, username, password } = new URL(value)
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname))
  return isSafe && username === '' && password === ''
}

/** A host name as `URL` has it. */
export function isLoopbackName(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
