/**
 * The events of one stream as text. A text that comes in pieces is one event for each, and of one form: it is
 * spelled once, with a hole in the place of the text.
 */
import { isPlainText } from '../../define/content.ts'
import { quote } from '../../wire/json.ts'
import { randomUuid } from '../../wire/random.ts'
import { formatEvent } from '../../wire/sse.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Sink } from '../../http/message/exchange.ts'
import type { StreamEvent } from '../model/model.ts'
import type { EventSink } from '../tasks/request.ts'

/** How the events of one stream are spelled, as the data of events. */
export interface EventSpelling {
  spell(event: StreamEvent): string
  spellFault(thrown: unknown): string
}

type ArtifactEvent = Extract<StreamEvent, { readonly what: 'artifact' }>

/** What stands around the text of pieces of one artifact. */
interface Frame { readonly artifactId: string; readonly before: string; readonly after: string }

/** Stands for a text; nobody can send it, because nobody knows it. */
const hole = randomUuid()

/** Writes events to a stream. */
export class EventWriter implements EventSink {
  readonly #sink: Sink
  readonly #spelling: EventSpelling
  #frame: Frame | undefined

  constructor(sink: Sink, spelling: EventSpelling) {
    this.#sink = sink
    this.#spelling = spelling
  }

  get closed(): boolean { return this.#sink.closed }

  send(event: StreamEvent): boolean {
    if (event.what === 'artifact' && event.append && !event.last) {
      const text = textIn(event.artifact)
      if (text !== undefined) return this.#sendText(event, text)
    }
    return this.#sink.write(formatEvent(this.#spelling.spell(event)))
  }

  ready(): Promise<void> {
    return this.#sink.ready()
  }

  end(thrown?: unknown): void {
    if (thrown === undefined) this.#sink.end()
    else this.#sink.end(formatEvent(this.#spelling.spellFault(thrown), 'error'))
  }

  #sendText(event: ArtifactEvent, text: string): boolean {
    const { id } = event.artifact
    if (this.#frame?.artifactId !== id) this.#frame = this.#frameOf(event)
    const { before, after } = this.#frame
    return this.#sink.write(before + quote(text) + after)
  }

  #frameOf(event: ArtifactEvent): Frame {
    const { id } = event.artifact
    const artifact: Artifact = { id, parts: [{ type: 'text', text: hole }] }
    const spelled = formatEvent(this.#spelling.spell({ ...event, artifact }))
    const [before = '', after = ''] = spelled.split(`"${hole}"`)
    return { artifactId: id, before, after }
  }
}

/** The text of a piece that is nothing else. */
function textIn({ parts, name, description, metadata, extensions }: Artifact): string | undefined {
  const part = parts[0]
  if (part === undefined || parts.length > 1 || !isPlainText(part)) return undefined
  const isBare = name === undefined && description === undefined && metadata === undefined
  return isBare && extensions === undefined ? part.text : undefined
}
