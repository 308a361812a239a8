/**
 * A figure of a server: its name in metrics, what it means, its value now; or one value for each value of a
 * label.
 */
export type Gauge =
  | readonly [name: string, help: string, value: number]
  | readonly [name: string, help: string, values: Readonly<Record<string, number>>, label: string]
