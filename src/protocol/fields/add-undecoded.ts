import { isObject } from '../schema.ts';
import { isBlank } from './is-blank.ts';

/** A longer value is a text, whatever its name. */
const LABEL_CHARS_MAX = 256;

/** How the fields of one kind of object are read. Decoding leaves out those without a reading. */
export type FieldPlace = ReadonlyMap<string, FieldUse>;

/**
 * - `whole`: it is decoded, or contains nothing that a model would read
 * - `label`: no model reads it, unless it is longer than a label
 * - `text`: it is decoded, unless it is blank
 * - a function: a text is read as above, and objects, also those of a list, by their own places
 */
type FieldUse = 'whole' | 'label' | 'text' | PlaceFinder;

/** Returns undefined for an object that decoding leaves out. */
export type PlaceFinder = (value: Fields) => FieldPlace | undefined;

type Fields = Readonly<Record<string, unknown>>;

export function toFieldPlace(readings: Readonly<Record<string, FieldUse>>): FieldPlace {
  return new Map(Object.entries(readings));
}

/** Finds the place of an object by its field `type`. */
export function byType(places: Readonly<Record<string, FieldPlace>>): PlaceFinder {
  const byName: ReadonlyMap<unknown, FieldPlace> = new Map(Object.entries(places));
  return ({ type }) => byName.get(type);
}

/** Adds what decoding leaves out of an object in this place. */
export function addUndecoded(value: object, place: FieldPlace, undecoded: unknown[]): void {
  // `for in` makes no list of names for each object. Parsed JSON has no inherited names.
  for (const name in value) {
    const field = (value as Fields)[name];
    const reading = place.get(name);
    if (reading === 'whole' || field === null) continue;
    if (Array.isArray(field) && field.length === 0) continue;
    if (reading === undefined) undecoded.push(wrapMarker(name, field));
    else if (reading === 'label') addLabel(field, undecoded);
    else if (typeof field === 'string') addBlank(field, undecoded);
    else if (typeof reading === 'function') addObjects(field, reading, undecoded);
    else undecoded.push(field);
  }
}

/** The same for an object, or for each object of a list. */
export function addObjects(value: unknown, find: PlaceFinder, undecoded: unknown[]): void {
  if (Array.isArray(value)) for (const item of value) addObject(item, find, undecoded);
  else addObject(value, find, undecoded);
}

function addObject(value: unknown, find: PlaceFinder, undecoded: unknown[]): void {
  const place = isObject(value) ? find(value) : undefined;
  if (place === undefined) undecoded.push(value);
  else addUndecoded(value as Fields, place, undecoded);
}

function addLabel(value: unknown, undecoded: unknown[]): void {
  if (typeof value !== 'string' || value.length > LABEL_CHARS_MAX) undecoded.push(value);
}

/** Decoding leaves out blank texts. */
export function addBlank(text: string, undecoded: unknown[]): void {
  if (text !== '' && isBlank(text)) undecoded.push(text);
}

/** A cache marker is distinguished from what else is left out by an object of its own. */
export function wrapMarker(name: string, field: unknown): unknown {
  return name === 'cache_control' ? { cache_control: field } : field;
}
