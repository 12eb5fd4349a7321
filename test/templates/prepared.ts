// What the pages' programs read, made as docs/client.md and docs/resource-server.md say: a wallet with notes, the pool's
// manifest, and a recipient.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSeedWords } from "@sotto/wallet";
import { Guide } from "./guide.ts";
import type { World } from "./world.ts";

export interface Prepared {
  /** Words of a wallet with a note of 1.2 USDC and four of 0.2, and the key of an account. */
  readonly environment: Readonly<Record<string, string>>;
  /** Gives a page's programs the environment, and the files that they read. */
  give(guide: Guide): void;
}

const FUND = `
import { Wallet as Account } from "ethers";
import { wallet } from "./wallet.ts";
await wallet.fund({ amounts: [1_200_000n, 200_000n, 200_000n, 200_000n, 200_000n], account: new Account(process.env.ACCOUNT_KEY) });
await wallet.close();
`;

let prepared: Promise<Prepared> | undefined;

export function prepare(world: World): Promise<Prepared> {
  prepared ??= create(world);
  return prepared;
}

async function create(world: World): Promise<Prepared> {
  const client = await Guide.open(world, "docs/client.md", "-prepared");
  await client.runCommands();
  client.provide("fund-guides.ts", FUND);
  await client.run("fund-guides.ts");
  const server = await Guide.open(world, "docs/resource-server.md", "-prepared");
  const { environment } = client;
  server.environment = { ...environment, SOTTO_WORDS: createSeedWords() };
  await server.runCommands();
  return {
    environment,
    give(guide) {
      guide.environment = { ...environment };
      const other = (name: string) => readFileSync(join(server.folder, name), "utf8");
      guide.provide("deployment.json", other("deployment.json"));
      // Signed by the account of the environment.
      guide.provide("addresses.json", other("signed.json"));
      guide.borrow("docs/client.md", "wallet.ts");
    },
  };
}
