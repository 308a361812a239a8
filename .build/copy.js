import { cpSync, existsSync, readFileSync, statSync } from 'node:fs'

/** Copies a file or a folder, and leaves alone what is the same: another process may be reading it. */
export function copyChanged(path, to) {
  cpSync(path, to, { recursive: true, filter: (one, other) => !isSame(one, other) })
}

function isSame(one, other) {
  return existsSync(other) && statSync(one).isFile() && readFileSync(one).equals(readFileSync(other))
}
