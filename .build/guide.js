/** The guide: chapters of no part are in lib/guide/, those of a part in its folder. Each is called as its file is. */
import { mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { copyChanged } from './copy.js'

/** Copies all chapters into one folder, where `triport help` reads them. */
export function copyGuide(folder) {
  mkdirSync(folder, { recursive: true })
  for (const path of chapters()) copyChanged(path, join(folder, basename(path)))
}

function chapters() {
  const folders = ['lib/guide', ...readdirSync('lib/parts').map((part) => join('lib/parts', part))]
  return folders.flatMap((folder) => (
    readdirSync(folder).filter((name) => name.endsWith('.md')).map((name) => join(folder, name))
  ))
}
