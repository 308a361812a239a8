/**
 * Waits until a process says on standard error where it listens: resolves to that `url`, and to `said`, which
 * returns what it has written so far. Rejects when it ends before.
 */
export function addressOf(child) {
  let text = ''
  const said = () => text
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      text += chunk
      const [, url] = / at (http:\/\/\S+) /.exec(text) ?? []
      if (url !== undefined) resolve({ url, said })
    })
    child.on('exit', () => reject(new Error(`It ended: ${text}`)))
  })
}
