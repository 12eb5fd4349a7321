import { expect } from "chai";
import { matchesSchema } from "../../src/discovery/schema-check.ts";
import { LISTING, recursiveListing } from "./support/required.ts";

/** Nests a schema in lists of `keyword` that name it twice. */
const doubled = (keyword: string, schema: object, levels: number): object =>
  levels === 0 ? schema : doubled(keyword, { [keyword]: [schema, schema] }, levels - 1);

describe("checking a value against a stranger's schema", () => {
  it("ends for schemas that recurse, multiply or backtrack", () => {
    const backtracking = "^(a+)+$";
    const text = `${"a".repeat(60)}!`;
    const value = { a: { a: { a: text } }, [text]: text, list: Array.from({ length: 500 }, (_, i) => i) };
    const recursive = { $recursiveAnchor: true, allOf: Array.from({ length: 9 }, () => ({ $recursiveRef: "#" })) };
    const hostile: Record<string, object> = {
      recursiveRef: recursive,
      dynamicRef: { $dynamicAnchor: "a", anyOf: Array.from({ length: 9 }, () => ({ not: { $dynamicRef: "#a" } })) },
      "a cycle of refs": { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
      pattern: { additionalProperties: { pattern: backtracking } },
      patternProperties: { patternProperties: { [backtracking]: true } },
      propertyNames: { propertyNames: { pattern: backtracking } },
      "a pattern in not": { not: { properties: { [text]: { pattern: backtracking } } } },
      "a pattern in if": { if: { properties: { [text]: { pattern: backtracking } } }, else: false },
      "a pattern in contains": { properties: { list: { contains: { $ref: "#" } } } },
      "a pattern in unevaluatedProperties": { unevaluatedProperties: { pattern: backtracking } },
      "a pattern in dependentSchemas": { dependentSchemas: { a: { additionalProperties: { pattern: backtracking } } } },
      "a schema in a list": { allOf: [[recursive]] },
      "allOf nested": doubled("allOf", { items: {} }, 8),
      "anyOf nested": doubled("anyOf", { type: "string" }, 8),
      "oneOf nested": doubled("oneOf", { type: "object" }, 8),
    };
    const [info, branching] = recursiveListing();
    expect(matchesSchema(branching, info)).to.equal(true);
    const results = Object.entries(hostile).map(([name, schema]) => [name, matchesSchema(schema, value)]);
    expect(results.filter(([, matches]) => !matches)).to.deep.equal([
      ["a schema in a list", false],
      ["anyOf nested", false],
    ]);
  });

  it("evaluates the keywords of ordinary listings", () => {
    const { info, schema } = LISTING.extensions.bazaar;
    expect(matchesSchema(schema, info)).to.equal(true);
    expect(matchesSchema(schema, { ...info, input: { type: "http", method: "PUT" } })).to.equal(false);
    const cases: [schema: unknown, yes: unknown, no: unknown][] = [
      [{ type: ["string", "null"] }, null, 1],
      [{ const: { a: [1] } }, { a: [1] }, { a: [2] }],
      [{ enum: ["a", 1] }, 1, "b"],
      [{ required: ["a"] }, { a: 1 }, {}],
      [{ dependentRequired: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
      [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, { a: 1, b: 1 }],
      [{ minItems: 1, maxItems: 2 }, [1], []],
      [{ minLength: 1, maxLength: 2 }, "a", "abc"],
      [{ minimum: 1, maximum: 2 }, 2, 3],
      [{ exclusiveMinimum: 1, exclusiveMaximum: 3 }, 2, 3],
      [{ multipleOf: 5 }, 10, 11],
      [{ properties: { a: { type: "number" } } }, { a: 1 }, { a: "1" }],
      [{ properties: { pattern: { type: "number" }, oneOf: true } }, { pattern: 1 }, { pattern: "1" }],
      [{ properties: { a: true }, additionalProperties: false }, { a: 1 }, { b: 1 }],
      [{ items: { type: "number" } }, [1], ["1"]],
      [{ items: [{ type: "number" }] }, [1, "1"], ["1"]],
      [{ prefixItems: [true], items: { type: "number" } }, ["1", 1], ["1", "1"]],
      [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 1, 3],
      [{ anyOf: [{ type: "string" }, { type: "number" }] }, 1, true],
      [{ oneOf: [{ type: "string" }, { type: "number" }], maximum: 2 }, 1, true],
      [{ oneOf: [{ type: "number" }], maximum: 2 }, 1, 3],
      [true, 1, undefined],
    ];
    for (const [schema, yes, no] of cases) {
      expect(matchesSchema(schema, yes), JSON.stringify(schema)).to.equal(true);
      if (schema !== true) expect(matchesSchema(schema, no), JSON.stringify(schema)).to.equal(false);
    }
    expect(matchesSchema(false, 1)).to.equal(false);
  });

  it("accepts every value if a schema has keywords that it does not check", () => {
    const reference = { $ref: "#/$defs/a" };
    for (const schema of [
      { oneOf: [reference, { $ref: "#/$defs/b" }] },
      { not: reference },
      { if: reference, else: false },
      { if: true, ...JSON.parse('{"then":{"$ref":"#"}}') },
      { patternProperties: { "^x-": {} }, additionalProperties: false },
      { format: "email" },
      { maxContains: 0, contains: reference },
    ])
      expect(matchesSchema(schema, { "x-a": 1 }), JSON.stringify(schema)).to.equal(true);
  });

  it("refuses keywords that are malformed", () => {
    for (const schema of [
      null,
      7,
      "text",
      [],
      { properties: [] },
      { properties: { a: 7 } },
      { allOf: {} },
      { items: 7 },
    ])
      expect(matchesSchema(schema, {}), JSON.stringify(schema)).to.equal(false);
  });
});
