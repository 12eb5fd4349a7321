// `node openapi.ts`: writes build/reference/openapi.md from docs/openapi.json: every endpoint with its parameters, bodies
// and statuses.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./exports.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

interface Description {
  readonly info: { readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The text of a cell. Descriptions are plain text: a `<` or `{{` in them is not markup. */
const cell = (text: string): string =>
  text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;").replaceAll("\n", " ");

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** `at most 64`, `8`, `1 to 78`; "" without bounds. */
function range(min: number | undefined, max: number | undefined): string {
  const most = max === Number.MAX_SAFE_INTEGER ? undefined : max;
  if (min === most) return min === undefined ? "" : `${min}`;
  if (most === undefined) return `at least ${min}`;
  return min === undefined ? `at most ${most}` : `${min} to ${most}`;
}

const of = (bounds: string, unit: string): string => (bounds === "" ? "" : `, ${bounds} ${unit}`.trimEnd());

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(" or ");
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  const { type = "any value", minLength, maxLength, minItems, maxItems, minimum, maximum } = schema;
  if (type === "array") {
    const items = schema.items === undefined ? "" : ` of ${typeOf(schema.items)}`;
    return `array${items}${of(range(minItems, maxItems), "items")}`;
  }
  return `${type}${of(range(minLength, maxLength), "characters")}${of(range(minimum, maximum), "")}`;
}

/** One row for each field, including those of nested objects. */
function fields(schema: Schema, prefix = "", isOptional = false): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const optional = isOptional || !(schema.required ?? []).includes(name);
    const path = `${prefix}${name}`;
    const row = [`\`${path}\``, `${typeOf(field)}${optional ? ", optional" : ""}`, cell(field.description ?? "")];
    const inner = field.type === "array" ? field.items : field;
    const below = inner === undefined ? [] : fields(inner, `${path}${field.type === "array" ? "[]" : ""}.`, optional);
    return [row, ...below];
  });
}

/** A body's media type and fields; one table for each alternative. */
function body(content: Content): string[] {
  return Object.entries(content).flatMap(([media, { schema }]) => {
    const alternatives = schema.anyOf ?? [schema];
    return alternatives.flatMap((alternative, index) => {
      const label = [
        `\`${media}\``,
        alternatives.length > 1 ? `, alternative ${index + 1} of ${alternatives.length}` : "",
        alternative.description === undefined ? "" : `: ${cell(alternative.description)}`,
      ].join("");
      const rows = fields(alternative);
      return rows.length === 0
        ? [`${label} (${typeOf(alternative)})`]
        : [label, table(["field", "type", "meaning"], rows)];
    });
  });
}

/** The meaning of a status, with each error code linked to its entry in docs/errors.md. */
const meaning = (description: string): string =>
  cell(description === "Default Response" ? "Success" : description).replaceAll(
    /`([A-Z][A-Z0-9_]+)`/g,
    (_, code: string) => `[\`${code}\`](../../../errors.md#${code.toLowerCase()})`,
  );

function endpoint(method: string, path: string, operation: Operation): string[] {
  const { parameters = [], requestBody, responses } = operation;
  const bodies = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  return [
    `## ${method.toUpperCase()} ${path}`,
    `${operation.summary}.`,
    ...(parameters.length === 0
      ? []
      : [
          "### Parameters",
          table(
            ["parameter", "in", "type", "meaning"],
            parameters.map(({ name, in: place, required = false, description = "", schema }) => [
              `\`${name}\``,
              place,
              `${typeOf(schema)}${required ? "" : ", optional"}`,
              cell(description),
            ]),
          ),
        ]),
    ...(requestBody === undefined ? [] : ["### Request body", ...body(requestBody.content)]),
    "### Statuses",
    table(
      ["status", "meaning"],
      Object.entries(responses).map(([status, { description }]) => [status, meaning(description)]),
    ),
    ...bodies.flatMap(([status, { content }]) =>
      content === undefined ? [] : [`### Body of ${status}`, ...body(content)],
    ),
  ];
}

const { info, servers, tags, paths } = JSON.parse(
  readFileSync(join(root, "docs", "openapi.json"), "utf8"),
) as Description;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);
const sections = tags.flatMap(({ name }) =>
  operations
    .filter(({ operation }) => operation.tags.includes(name))
    .flatMap(({ method, path, operation }) => endpoint(method, path, operation)),
);
const page = [
  "# Endpoints of the service",
  `${info.description} Version ${info.version}; paths follow the base path, \`${servers.map(({ url }) => url).join("`, `")}\` by default.`,
  "This page is made from the OpenAPI description that the service serves at `/openapi.json`. [The guide](../../../api.md) has an example of each request, and [the body of an error](../../../api.md#errors).",
  table(
    ["endpoints", "purpose"],
    tags.map(({ name, description }) => [name, description]),
  ),
  ...sections,
];
const file = join(import.meta.dirname, "build", "reference", "openapi.md");
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${page.join("\n\n")}\n`);
