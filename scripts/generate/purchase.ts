// node scripts/generate/purchase.ts [--check]: draws the states of a purchase in docs/client.md from the client's table.
// It needs the built packages.

import { PURCHASE_STATES, type PurchaseState } from "@sotto/client";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { withPart } from "./document-part.ts";

const states = Object.entries<PurchaseState>(PURCHASE_STATES);

function diagram(): string[] {
  const [first] = states[0]!;
  const arrows = states.flatMap(([name, { next }]) =>
    next.length === 0 ? [`  ${name} --> [*]`] : next.map((following) => `  ${name} --> ${following}`),
  );
  return ["```mermaid", "stateDiagram-v2", `  [*] --> ${first}`, ...arrows, "```"];
}

function table(): string[] {
  const rows = states.map(
    ([name, { journal, next, crash, shown }]) =>
      `| \`${name}\` | ${journal} | ${next.map((each) => `\`${each}\``).join(", ") || "-"} | ${crash} | ${shown ?? "-"} |`,
  );
  return [
    "| state | stored before it is entered | next | after a crash, the equal request | `state` of `openPurchases` |",
    "|---|---|---|---|---|",
    ...rows,
  ];
}

export const generatePurchase = async (): Promise<GeneratedFile> =>
  withPart(
    "client.md",
    "states of a purchase",
    "scripts/generate/purchase.ts",
    [...diagram(), "", ...table()].join("\n"),
  );

if (import.meta.main) await runGenerators(generatePurchase);
