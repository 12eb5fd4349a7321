// Checks values against JSON schemas of strangers. Only keywords are evaluated whose time is limited by the sizes of schema
// and value: no references, which can recurse, and no patterns and formats, which can backtrack. Leaving out a part of a
// schema must not make it stricter, so keywords that negate or count what other schemas accept are left out too.
import Schema from "typebox/schema";

type Json = Readonly<Record<string, unknown>>;
type Evaluated = boolean | Json;

/** Keywords whose values are no schemas. */
const VALUES: ReadonlySet<string> = new Set([
  ...["type", "const", "enum", "required", "dependentRequired", "minProperties", "maxProperties"],
  ...["minItems", "maxItems", "minLength", "maxLength"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
]);

class Malformed extends Error {}

/**
 * Whether a value matches the evaluated keywords of a schema (draft-07 or 2020-12). False if one of them is malformed.
 * Recurses as deep as schema and value, so the caller limits both.
 */
export function matchesSchema(schema: unknown, value: unknown): boolean {
  try {
    return Schema.Check(evaluated(schema), value);
  } catch {
    return false;
  }
}

/** The part of a schema that is evaluated. @throws Malformed */
function evaluated(schema: unknown): Evaluated {
  if (typeof schema === "boolean") return schema;
  const all = mapOf(schema);
  const part: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(all)) {
    if (VALUES.has(keyword)) part[keyword] = value;
    else if (keyword === "properties") part[keyword] = schemas(value);
    else if (keyword === "allOf" || keyword === "anyOf" || keyword === "prefixItems") part[keyword] = listOf(value);
    // Draft-07 has a list of schemas here.
    else if (keyword === "items")
      Object.assign(part, Array.isArray(value) ? { prefixItems: listOf(value) } : { items: evaluated(value) });
    // Refuses properties that patterns would accept.
    else if (keyword === "additionalProperties" && !Object.hasOwn(all, "patternProperties"))
      part[keyword] = evaluated(value);
  }
  // Schemas that differ in a part that is left out can all match.
  return Object.hasOwn(all, "oneOf") ? { allOf: [part, { anyOf: listOf(all["oneOf"]) }] } : part;
}

const listOf = (value: unknown): Evaluated[] => {
  if (!Array.isArray(value)) throw new Malformed();
  return value.map(evaluated);
};

const schemas = (value: unknown): Json =>
  Object.fromEntries(Object.entries(mapOf(value)).map(([name, schema]) => [name, evaluated(schema)]));

function mapOf(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Malformed();
  return value as Json;
}
