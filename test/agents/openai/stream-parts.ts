/** Parts of what a model streams. No test itself. */
import { data } from './endpoint.ts'

export function part(index: number | undefined, id: string, name: string, written: string): string {
  const asked = { index, id, function: { name, arguments: written } }
  return data({ choices: [{ delta: { tool_calls: [asked] } }] })
}
