import { readFileSync } from "node:fs";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import type { Cli } from "./support/cli.ts";
import { type CliWorld, listen, openCli, openCliWorld } from "./support/world.ts";

const PHONE = "+14155550123";

describe("sotto: phone numbers", function () {
  slow(this, "a chain, a service and the command line's processes");
  let world: CliWorld;
  let cli: Cli & { account: string };
  before(async () => {
    world = await openCliWorld();
    cli = await openCli(world, 0n);
  });

  it("are linked with the account's signature and the code that was sent", async () => {
    expect(await cli.refused(["link", PHONE], 5)).to.equal("PENDING");
    const sent = readFileSync(world.codes, "utf8").trim().split("\n").at(-1)!;
    const { code, phoneNumber } = JSON.parse(sent) as { code: string; phoneNumber: string };
    expect(phoneNumber).to.equal(PHONE);
    const wrong = String((Number(code) + 1) % 10 ** code.length).padStart(code.length, "0");
    expect(await cli.refused(["link", PHONE, "--code", wrong], 3)).to.equal("SERVICE_REFUSED");
    expect(await cli.json(["link", PHONE, "--code", code])).to.deep.include({ wallet: cli.account, verified: true });
  });

  it("resolve to a wallet and its signed shielded address", async () => {
    const { shieldedAddress } = await cli.json<{ shieldedAddress: string }>(["address"]);
    const found = await cli.json<Record<string, unknown>>(["resolve", PHONE]);
    expect(found).to.deep.include({ wallet: cli.account, shieldedAddress, standing: "new" });
    expect(await cli.refused(["resolve", "+14155550199"], 3)).to.equal("PHONE_UNKNOWN");
  });

  it("are paid and pinned", async () => {
    const payer = await openCli(world);
    await payer.json(["deposit", "1"]);
    const { shieldedAddress } = await cli.json<{ shieldedAddress: string }>(["address"]);
    const sent = await payer.json<Record<string, unknown>>(["send", "0.2", "--to", PHONE, "--yes"]);
    expect(sent).to.include({ amount: "200000", recipientAddress: shieldedAddress });
    expect(await payer.json(["resolve", PHONE])).to.include({ standing: "known" });
    const received = await cli.json<{ total: { amount: string } }>(["receive"]);
    expect(received.total.amount).to.equal("200000");
  });

  it("are rejected if the registry substitutes the address or the wallet", async () => {
    const path = `${world.service.url}/phone/resolve/${encodeURIComponent(PHONE)}`;
    const honest = (await (await fetch(path)).json()) as Record<string, unknown>;
    const other = await openCli(world, 0n);
    const { shieldedAddress } = await other.json<{ shieldedAddress: string }>(["address"]);
    let answer: object = honest;
    const registry = await listen((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer));
    });
    try {
      const resolve = ["resolve", PHONE, "--registry", registry.url];
      // Signed for a registry other than the one that shows it.
      expect(await cli.refused(resolve, 3)).to.equal("PHONE_BINDING_FOREIGN");
      for (const change of [
        { encryptionPublicKey: shieldedAddress },
        { wallet: Account.createRandom().address.toLowerCase() },
        { issuedAt: 0 },
        { signature: "0x" },
        { service: registry.url },
        { encryptionPublicKey: null },
      ]) {
        answer = { ...honest, ...change };
        expect(await cli.refused(resolve, 3), JSON.stringify(change)).to.match(/^PHONE_/);
      }
    } finally {
      await registry.close();
    }
  });

  it("never appear in an error", async () => {
    const { stderr } = await cli.run(["resolve", "+14155550199"]);
    expect(stderr).to.not.include("14155550199");
    const { stderr: other } = await cli.run(["resolve", "0014155550199"]);
    expect(other)
      .to.match(/PHONE_NUMBER_INVALID/)
      .and.to.not.include("14155550199");
  });
});
