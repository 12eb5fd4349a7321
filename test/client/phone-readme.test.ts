// Runs the phone number example from the client's README unchanged.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as client from "@sotto/client";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { openWallet, openWorld, payerWith } from "../world/wallets.ts";
import { Phones } from "./support/phones.ts";

const README = join(import.meta.dirname, "..", "..", "packages", "client", "README.md");
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;

describe("the README's phone payment", function () {
  slow(this, "a chain, a service and proofs");
  let phones: Phones;
  after(() => phones?.close());

  it("pays the number", async () => {
    const section = readFileSync(README, "utf8").split("## Paying a phone number")[1]!;
    const block = /```ts\n([\s\S]*?)```/.exec(section)![1]!;
    const [, names] = /^import \{([^}]*)\} from "@sotto\/client";\n/.exec(block)!;
    for (const name of names!.split(",")) expect(client).to.have.property(name.trim());
    const world = await openWorld();
    phones = await Phones.open(world);
    const friend = await openWallet(world);
    const given = {
      ...client,
      friend,
      account: phones.person(friend).account,
      wallet: await payerWith(world, [2_000_000n]),
      service: world.service,
      codeFromSms: async () => phones.lastCode(),
      askTheUser: () => false,
    };
    const code = block.replace(/^import .*\n/, "").replace("https://phones.example/zk", phones.url);
    const run = new AsyncFunction(...Object.keys(given), `${code}; return txSignature;`);
    expect(await run(...Object.values(given))).to.match(/^0x[0-9a-f]{64}$/);
    await friend.scan();
    expect(friend.balance().total).to.equal(1_250_000n);
  });
});
