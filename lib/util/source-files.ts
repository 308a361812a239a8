/** The files and folders that definitions were read from, besides modules: a command may watch them. */

type Listener = (path: string) => void

let listener: Listener | undefined

/** Notes a file or a folder, by its absolute path, before it is read. */
export function noteSource(path: string): void {
  listener?.(path)
}

/** Calls `watcher`, in the place of an earlier one, with each path that is noted from now on. */
export function onSource(watcher: Listener): void {
  listener = watcher
}
