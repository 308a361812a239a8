/** Says as much as it is told to on one topic, without waiting in between. No test itself. */
import { postgresClients, redisClients } from './servers.mjs'

const [client, url, topic, name, count] = process.argv.slice(2)
if (client !== undefined) {
  const { store, end } = await { ...redisClients, ...postgresClients }[client](url)
  const answers = []
  for (let at = 0; at < Number(count); at++) {
    answers.push(store.publish(topic, `${name} ${at}`, { events: 100_000, ms: 60_000 }))
  }
  await Promise.all(answers)
  await store.close()
  await end()
}
