// The arguments of a tool, strictly: a name that the tool does not have is an error. A model that writes `quoteOnly` for
// `quote_only` would otherwise pay.
import type { AnySchema, ZodRawShapeCompat } from "@modelcontextprotocol/sdk/server/zod-compat.js";
import { nearest } from "@sotto/cli-kit/home";
import { quoted } from "@sotto/protocol";
import { z } from "zod";
import * as z3 from "zod/v3";
import { AgentError } from "./errors.ts";

const isZod4 = (schema: AnySchema): schema is z.core.$ZodType => "_zod" in schema;

/** Whether a schema accepts a value. A schema that checks asynchronously has accepted the value's type. */
function accepts(schema: AnySchema, value: unknown): boolean {
  try {
    return (isZod4(schema) ? z.safeParse(schema, value) : schema.safeParse(value)).success;
  } catch {
    return true;
  }
}

/** How to write a value that has the wrong one of the types number and text; undefined if that is not what is wrong. */
function correction(schema: AnySchema, value: unknown): string | undefined {
  if (typeof value === "number") {
    // A larger number has lost digits on its way here.
    const exact = Math.abs(value) <= Number.MAX_SAFE_INTEGER && /^-?[0-9.]+$/.test(String(value));
    if (!exact || accepts(schema, value) || !accepts(schema, String(value))) return undefined;
    return `is the number ${value}, but must be text; write "${value}"`;
  }
  if (typeof value !== "string" || !/^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$/.test(value)) return undefined;
  if (accepts(schema, value) || !accepts(schema, Number(value))) return undefined;
  return `is the text "${value}", but must be a number; write ${Number(value)}`;
}

/** The part of a zod context that both generations have. */
interface Context {
  addIssue(issue: { code: "custom"; message: string; fatal: true }): void;
}

/** Runs before an argument is parsed: null counts as absent unless the argument may be null. */
function beforeParsing(name: string, schema: AnySchema): (value: unknown, context: Context) => unknown {
  const nullable = accepts(schema, null);
  return (value, context) => {
    if (value === null && !nullable) return undefined;
    const wrong = correction(schema, value);
    if (wrong !== undefined) context.addIssue({ code: "custom", message: `${name} ${wrong}`, fatal: true });
    return value;
  };
}

/** Names each unknown argument, and the one that was probably meant. */
function unknownNames(keys: readonly PropertyKey[], names: readonly string[]): string {
  return keys
    .map((key) => {
      const name = String(key);
      const meant = nearest(name, names);
      const known = names.length === 0 ? "the tool has none" : `the tool has ${names.join(", ")}`;
      return `unknown argument "${quoted(name, 64)}"; ${meant === undefined ? known : `write "${meant}"`}`;
    })
    .join("\n");
}

function strict4(schema: z.core.$ZodObject): AnySchema {
  const { def } = schema._zod;
  // The schema says itself which other names it accepts.
  const { catchall = z.never() } = def;
  const shape = Object.fromEntries(
    Object.entries(def.shape).map(([name, one]) => [name, z.preprocess(beforeParsing(name, one), one)]),
  );
  const names = Object.keys(shape);
  const own = def.error as z.core.$ZodErrorMap | undefined;
  const error: z.core.$ZodErrorMap = (issue) =>
    issue.code === "unrecognized_keys" ? unknownNames(issue.keys, names) : own?.(issue);
  return z.core.clone(schema, { ...def, shape, catchall, error });
}

function strict3(schema: z3.AnyZodObject): AnySchema {
  const { _def: def } = schema;
  const shape = Object.fromEntries(
    Object.entries(schema.shape as z3.ZodRawShape).map(([name, one]) => [
      name,
      z3.preprocess(beforeParsing(name, one), one),
    ]),
  );
  const names = Object.keys(shape);
  const errorMap: z3.ZodErrorMap = (issue, context) =>
    issue.code === "unrecognized_keys"
      ? { message: unknownNames(issue.keys, names) }
      : (def.errorMap?.(issue, context) ?? { message: context.defaultError });
  const unknownKeys = def.unknownKeys === "strip" ? "strict" : def.unknownKeys;
  return new z3.ZodObject({ ...def, shape: () => shape, unknownKeys, errorMap });
}

const isSchema = (value: object): value is AnySchema => "_zod" in value || "_def" in value;

/** Recognizes the schema by its type name, not its class, because it may come from another copy of zod. */
const isZod3Object = (schema: AnySchema): schema is z3.AnyZodObject =>
  !isZod4(schema) && "typeName" in schema._def && schema._def.typeName === z3.ZodFirstPartyTypeKind.ZodObject;

/**
 * The object schema of a tool's arguments, from their shape or from an object schema. It refuses unknown names unless
 * the schema declares itself that it accepts them, and `tools/list` shows that (`additionalProperties`). Null counts as
 * absent, and an error says how to write a number that is meant as text.
 * @throws AgentError MCP_OPTION_INVALID if the schema is not an object schema
 */
export function strictArguments<Shape extends z.ZodRawShape>(given: Shape): z.ZodObject<Shape>;
export function strictArguments(given: AnySchema | ZodRawShapeCompat): AnySchema;
export function strictArguments(given: AnySchema | ZodRawShapeCompat): AnySchema {
  if (!isSchema(given)) {
    const isNew = Object.values(given).every(isZod4);
    return isNew ? strict4(z.object(given as z.ZodRawShape)) : strict3(z3.object(given as z3.ZodRawShape));
  }
  if (given instanceof z.core.$ZodObject) return strict4(given);
  if (isZod3Object(given)) return strict3(given);
  throw new AgentError(
    "MCP_OPTION_INVALID",
    "inputSchema must be a zod object or the shape of one, because a tool refuses arguments whose names it does not know",
  );
}
