/** Reads what a run of Strands returns. */
import type { Reader } from './adapter.ts'

export const strands: Reader = {
  // Its class writes the text of its last message.
  makeReader: () => (result) => String(result),
}
