/** Addresses of issuers and resources, which are written with and without a slash at the end. */
import { normalAddress } from '../../kernel/wire/uri.ts'

/** Whether two addresses are one, apart from a slash at the end. What is no address equals itself alone. */
export function isSameAddress(one: unknown, other: string): boolean {
  if (one === other) return true
  return typeof one === 'string' && URL.canParse(one) && URL.canParse(other) && bare(one) === bare(other)
}

function bare(address: string): string {
  return normalAddress(new URL(address).href).replace(/\/$/, '')
}
