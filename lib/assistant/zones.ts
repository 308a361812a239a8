/**
 * Time zones by the names that people use: IANA names, cities, countries of one zone, abbreviations, offsets.
 * In: such a name; out: a zone that tells its offset at any instant. All rules come from `Intl`; this file
 * only knows names. Abbreviations of standard and summer time are fixed offsets, as they are defined.
 */

import { Problem, shorten, suggest } from './problem.ts'

/** A place on the clock. */
export interface Zone {
  /** As it was asked for, in a tidy spelling. */
  readonly label: string
  /** IANA name, or undefined for a fixed offset. */
  readonly iana: string | undefined
  /** Milliseconds to add to UTC at an instant (epoch milliseconds). */
  offset(at: number): number
}

/** Places that IANA has no city for, or another spelling. */
const places = `
  America/New_York: new york city,nyc,boston,washington,washington
  dc,miami,philadelphia,atlanta,orlando,florida,eastern,et,us eastern; America/Chicago:
  houston,dallas,austin,new orleans,minneapolis,texas,central,ct,us central; America/Denver: salt lake
  city,colorado,mountain,mt,us mountain; America/Los_Angeles: la,san francisco,sf,seattle,san diego,las
  vegas,portland,california,silicon valley,pacific,pt,us pacific; America/Toronto: ottawa,montreal,quebec;
  America/Argentina/Buenos_Aires: buenos aires,argentina; America/Sao_Paulo: rio,rio de janeiro,brasilia,sao
  paulo; America/Bogota: colombia; America/Lima: peru; America/Santiago: chile; America/Anchorage: alaska;
  Pacific/Honolulu: hawaii,hst; Europe/London: uk,united kingdom,great
  britain,britain,england,scotland,wales,edinburgh,manchester,birmingham,glasgow; Europe/Dublin: ireland;
  Europe/Paris: france,lyon,marseille; Europe/Berlin: germany,munich,hamburg,frankfurt,cologne;
  Europe/Madrid: spain,barcelona,valencia; Europe/Lisbon: porto; Europe/Rome:
  italy,milan,naples,florence,venice; Europe/Zurich: switzerland,geneva,basel; Europe/Vienna: austria;
  Europe/Amsterdam: netherlands,holland,rotterdam,hague; Europe/Brussels: belgium; Europe/Stockholm: sweden;
  Europe/Oslo: norway; Europe/Copenhagen: denmark; Europe/Helsinki: finland; Europe/Warsaw: poland,krakow;
  Europe/Prague: czech republic,czechia; Europe/Budapest: hungary; Europe/Athens: greece; Europe/Istanbul:
  turkey,ankara,trt; Europe/Kiev: kyiv,ukraine; Europe/Moscow: st petersburg,saint petersburg,msk;
  Africa/Johannesburg: south africa,cape town,pretoria,durban,sast; Africa/Cairo: egypt; Africa/Lagos:
  nigeria,abuja,wat; Africa/Nairobi: kenya,eat; Asia/Dubai: uae,abu dhabi,united arab emirates,gst;
  Asia/Riyadh: saudi arabia,mecca; Asia/Jerusalem: israel,tel aviv; Asia/Tehran: iran; Asia/Karachi:
  pakistan,islamabad,lahore,pkt; Asia/Kolkata: india,mumbai,bombay,delhi,new
  delhi,bangalore,bengaluru,chennai,hyderabad,pune,kolkata,ist; Asia/Kathmandu: nepal,kathmandu; Asia/Dhaka:
  bangladesh; Asia/Yangon: myanmar,yangon; Asia/Bangkok: thailand; Asia/Ho_Chi_Minh: vietnam,hanoi,saigon,ho
  chi minh city,ho chi minh; Asia/Singapore: sgt; Asia/Manila: philippines; Asia/Jakarta: wib;
  Asia/Shanghai: china,beijing,shenzhen,guangzhou,hangzhou; Asia/Hong_Kong: hkt; Asia/Taipei: taiwan;
  Asia/Seoul: korea,south korea,busan,kst; Asia/Tokyo: japan,osaka,kyoto,jst; Australia/Brisbane: aest;
  Australia/Sydney: canberra; Pacific/Auckland: new zealand,wellington`

/** Abbreviations with an offset of their own, in minutes. */
const fixed = new Map([
  ['utc', 0], ['gmt', 0], ['wet', 0], ['bst', 60], ['west', 60], ['cet', 60], ['cest', 120],
  ['eet', 120], ['eest', 180], ['est', -300], ['edt', -240], ['cst', -360], ['cdt', -300], ['mst', -420],
  ['mdt', -360], ['pst', -480], ['pdt', -420], ['akst', -540], ['akdt', -480], ['aedt', 660], ['awst', 480],
  ['nzst', 720], ['nzdt', 780], ['brt', -180], ['art', -180],
])

/** Too large for one zone. */
const wide = /^(?:usa?|united states|america|canada|russia|australia|brazil|mexico|europe|asia|africa)$/

const cities = new Map<string, string>()

function known(): ReadonlyMap<string, string> {
  if (cities.size > 0) return cities
  const enter = (zone: string, names: readonly string[]): void => {
    for (const name of [zone, zone.slice(zone.lastIndexOf('/') + 1), ...names]) cities.set(plain(name), zone)
  }
  for (const zone of Intl.supportedValuesOf('timeZone')) enter(zone, [])
  for (const line of places.replace(/\s+/g, ' ').split(';')) {
    const [zone = '', names = ''] = line.trim().split(': ')
    enter(zone, names.split(','))
  }
  return cities
}

function plain(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('_', ' ').toLowerCase().trim()
}

/** The zone that a name means. Throws a `Problem`, with the nearest name where there is one. */
export function findZone(name: string): Zone {
  const given = shorten(name.trim().replace(/^the /i, '').replace(/ (?:time zone|timezone|time)$/i, ''))
  const wanted = plain(given)
  const minutes = fixed.get(wanted) ?? offsetOf(wanted)
  if (minutes !== undefined) {
    const label = fixed.has(wanted) ? wanted.toUpperCase() : offsetText(minutes * 60_000)
    return { label, iana: undefined, offset: () => minutes * 60_000 }
  }
  if (wide.test(wanted)) {
    throw new Problem(`"${given}" has several time zones`, 'Name a city, such as "Chicago" or "Sydney".')
  }
  const iana = known().get(wanted) ?? canonical(wanted)
  if (iana === undefined) {
    throw new Problem(`Unknown place or time zone "${given}"`, suggest(wanted, known().keys()))
  }
  const initials = given.length <= 3 ? /./gu : /(?<![\p{L}'])\p{L}/gu
  const tidy = given.replace(initials, (letter) => letter.toUpperCase())
  const label = given.includes('/') ? iana : given === given.toLowerCase() ? tidy : given
  return { label, iana, offset: (at) => intlOffset(iana, at) }
}

/** `UTC+05:30`. */
export function offsetText(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / 60_000)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
  return ms === 0 ? 'UTC' : `UTC${ms < 0 ? '-' : '+'}${hours}:${rest}`
}

function offsetOf(text: string): number | undefined {
  const parts = /^(?:utc|gmt)?\s?([+-])(\d{1,2})(?::?(\d{2}))?$/.exec(text)
  const minutes = parts === null ? NaN : Number(parts[2]) * 60 + Number(parts[3] ?? 0)
  return minutes <= 14 * 60 ? minutes * (parts?.[1] === '-' ? -1 : 1) : undefined
}

/** IANA names that are no longer listed ("US/Eastern") but still understood. */
function canonical(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name.replaceAll(' ', '_') }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

function intlOffset(iana: string, at: number): number {
  const format = new Intl.DateTimeFormat('en', { timeZone: iana, timeZoneName: 'longOffset' })
  const text = format.formatToParts(at).find((part) => part.type === 'timeZoneName')?.value ?? ''
  const parts = /([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(text)
  if (parts === null) return 0
  const seconds = Number(parts[2]) * 3600 + Number(parts[3]) * 60 + Number(parts[4] ?? 0)
  return (parts[1] === '-' ? -seconds : seconds) * 1000
}
