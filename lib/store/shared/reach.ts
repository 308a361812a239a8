/**
 * What a store that lies elsewhere has in common with any other: how it fails, and how it writes texts that
 * its engine does not take.
 */
import { Fault } from '../../define/fault.ts'

/**
 * Does something with a client. Whatever that fails with is that the store could not do it now: the words
 * of a client are for the log, as the cause.
 */
export async function reach<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Fault('busy', 'The store cannot be reached; try again later', undefined, { cause })
  }
}

/** An owner or a key as a column of text takes it, which cannot hold NUL. */
export function encodeNul(text: string): string {
  return text.replace(/[\0\\]/g, (one) => one === '\0' ? '\\0' : '\\\\')
}

/** The owner or key that was so written. */
export function decodeNul(text: string): string {
  return text.replace(/\\(.)/g, (_, one) => one === '0' ? '\0' : '\\')
}
