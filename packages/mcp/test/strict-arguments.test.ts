// Arguments that a tool does not have, seen by the SDK's client.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { thrown } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { z } from "zod";
import * as z3 from "zod/v3";
import { strictArguments } from "../src/strict-arguments.ts";

type Given = Parameters<typeof strictArguments>[0];

/** A client of a server with one tool, which returns its parsed arguments. */
async function clientOf(given: Given): Promise<Client> {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const inputSchema: z.core.$ZodType | z3.ZodTypeAny = strictArguments(given);
  server.registerTool("echo", { inputSchema }, (args: unknown) => ({
    content: [{ type: "text" as const, text: JSON.stringify(args) }],
  }));
  const [one, other] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  await Promise.all([server.connect(one), client.connect(other)]);
  return client;
}

async function call(client: Client, args: Record<string, unknown>): Promise<{ parsed?: unknown; error?: string }> {
  const { isError, content } = (await client.callTool({ name: "echo", arguments: args })) as CallToolResult;
  const [part] = content;
  const text = part?.type === "text" ? part.text : "";
  return isError === true ? { error: text } : { parsed: JSON.parse(text) };
}

const AMOUNT = /^[1-9][0-9]{0,9}$/;
const SHAPES: readonly [generation: string, shape: Given][] = [
  [
    "zod 4",
    {
      max_amount: z.string().regex(AMOUNT, "not base units").optional(),
      quote_only: z.boolean().optional(),
      days: z.number().int().default(1),
      note: z.string().nullable().optional(),
    },
  ],
  [
    "zod 3",
    {
      max_amount: z3.string().regex(AMOUNT, "not base units").optional(),
      quote_only: z3.boolean().optional(),
      days: z3.number().int().default(1),
      note: z3.string().nullable().optional(),
    },
  ],
];

for (const [generation, shape] of SHAPES)
  describe(`the arguments of a tool with a schema of ${generation}`, () => {
    let client: Client;
    before(async () => {
      client = await clientOf(shape);
    });
    after(() => client.close());

    it("are listed as the only ones", async () => {
      const { tools } = await client.listTools();
      const { inputSchema } = tools[0]!;
      expect(inputSchema).to.include({ type: "object", additionalProperties: false });
      expect(inputSchema.required ?? []).to.deep.equal([]);
      expect(inputSchema.properties!["quote_only"]).to.deep.equal({ type: "boolean" });
    });

    it("are accepted under their own names", async () => {
      const args = { max_amount: "50000", quote_only: true, days: 3, note: "x" };
      expect(await call(client, args)).to.deep.equal({ parsed: args });
      expect(await call(client, {})).to.deep.equal({ parsed: { days: 1 } });
    });

    it("are refused under other names, and the error names the one that was meant", async () => {
      for (const [wrong, right] of [
        ["maxAmount", "max_amount"],
        ["max-amount", "max_amount"],
        ["quoteOnly", "quote_only"],
        ["Days", "days"],
      ] as const) {
        const { error } = await call(client, { [wrong]: "1" });
        expect(error).to.include(`unknown argument "${wrong}"; write "${right}"`);
      }
      const { error } = await call(client, { budget: 1 });
      expect(error).to.include('unknown argument "budget"; the tool has max_amount, quote_only, days, note');
      const { error: long } = await call(client, { ["ab\n".repeat(1_000)]: 1 });
      expect(long!.length).to.be.lessThan(400);
    });

    it("count as absent if they are null, unless they may be null", async () => {
      expect(await call(client, { max_amount: null, quote_only: null, days: null, note: null })).to.deep.equal({
        parsed: { days: 1, note: null },
      });
    });

    it("are refused with a hint if they are a number in place of text, or text in place of a number", async () => {
      expect((await call(client, { max_amount: 50_000 })).error).to.include(
        'max_amount is the number 50000, but must be text; write "50000"',
      );
      expect((await call(client, { days: "3" })).error).to.include(
        'days is the text "3", but must be a number; write 3',
      );
      // Without a hint: not the right text either, and a number that JSON has rounded.
      for (const value of [-5, 0.5, 2 ** 60, true]) {
        const { error } = await call(client, { max_amount: value });
        expect(error).to.be.a("string").and.not.include("write");
      }
    });
  });

describe("the schema of a tool's arguments", () => {
  it("refuses every argument if it has none", async () => {
    const client = await clientOf({});
    expect((await client.listTools()).tools[0]!.inputSchema).to.include({ additionalProperties: false });
    expect((await call(client, { city: "Oslo" })).error).to.include('unknown argument "city"; the tool has none');
    expect(await call(client, {})).to.deep.equal({ parsed: {} });
    await client.close();
  });

  it("keeps the rules, the errors and the other names that an object schema declares", async () => {
    const city = { city: z.string({ error: "name a city" }) };
    const cases: readonly [given: Given, args: Record<string, unknown>, outcome: string | undefined][] = [
      [z.object(city), { city: "Oslo" }, undefined],
      [z.object(city), { city: "Oslo", town: 1 }, 'unknown argument "town"'],
      [z.object(city), { city: null }, "name a city"],
      [z.object(city).refine((value) => value.city !== "Rome", "not Rome"), { city: "Rome" }, "not Rome"],
      [z.looseObject(city), { city: "Oslo", town: 1 }, undefined],
      [z.object(city).catchall(z.number()), { city: "Oslo", town: 1 }, undefined],
      [z.object(city).catchall(z.number()), { city: "Oslo", town: "x" }, "expected number"],
      [z3.object({ city: z3.string() }), { city: "Oslo", town: 1 }, 'unknown argument "town"'],
      [z3.object({ city: z3.string() }).passthrough(), { city: "Oslo", town: 1 }, undefined],
    ];
    for (const [given, args, outcome] of cases) {
      const client = await clientOf(given);
      const { parsed, error } = await call(client, args);
      if (outcome === undefined) expect(parsed).to.deep.equal(args);
      else expect(error).to.include(outcome);
      await client.close();
    }
  });

  it("must be an object schema", () => {
    for (const given of [z.union([z.object({}), z.string()]), z3.string()])
      expect(thrown(() => strictArguments(given)).code).to.equal("MCP_OPTION_INVALID");
    strictArguments(z.object({}));
  });
});
