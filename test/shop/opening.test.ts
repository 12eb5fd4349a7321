// A paywall that could not judge payments rightly does not open.
import { parseDeployment } from "@sotto/protocol";
import { lockOf } from "@sotto/prover";
import type { PaywallOptions } from "@sotto/resource-server";
import { expect } from "chai";
import { openPaywall, shopOptions } from "./support/options.ts";
import { openShopWorld, type ShopWorld } from "./support/world.ts";

const NOWHERE = "http://127.0.0.1:9";

describe("a paywall does not open", () => {
  let world: ShopWorld;
  before(async () => {
    world = await openShopWorld();
  });
  const chain = (changes: object) => ({ ...shopOptions(world).chain, ...changes });
  const code = (changes: Partial<PaywallOptions>): Promise<string> =>
    openPaywall(world, changes).then(
      async (paywall) => {
        await paywall.close();
        return "opened";
      },
      (error: { code?: string }) => String(error.code),
    );

  it("for a recipient whose wallet did not sign this, here, and lately", async () => {
    const { recipient } = shopOptions(world);
    const [old, next] = [recipient.issuedAt - 300, recipient.issuedAt + 86_400];
    const lies = [{ signature: `0x${"11".repeat(65)}` }, { signature: "0x" }, { issuedAt: old }, { issuedAt: next }];
    for (const lie of [...lies, { service: "https://registry.example" }, { phone: "+14155550100" }])
      expect(await code({ recipient: { ...recipient, ...lie } }), JSON.stringify(lie)).to.equal("RECIPIENT_NOT_SIGNED");
    const later = () => Date.now() + 401 * 86_400_000;
    expect(await code({ clock: later })).to.equal("RECIPIENT_NOT_SIGNED");
    expect(await code({})).to.equal("opened");
  });

  it("for another chain, another pool, another token", async () => {
    expect(await code({ chain: chain({ chainId: 1337 }) })).to.equal("WRONG_CHAIN");
    expect(await code({ chain: chain({ rpcUrls: [NOWHERE] }) })).to.equal("CHAIN_UNAVAILABLE");
    for (const pool of [`0x${"12".repeat(20)}`, world.token])
      expect(await code({ chain: chain({ pool }) })).to.equal("POOL_MISMATCH");
    expect(await code({ chain: chain({ token: world.pool }) })).to.equal("POOL_MISMATCH");
    expect(await code({ chain: chain({ decimals: 18 }) })).to.equal("POOL_MISMATCH");
    expect(await code({ chain: chain({ token: world.token, decimals: 6 }) })).to.equal("opened");
  });

  it("for keys of another set than the pool's", async () => {
    expect(await code({ chain: chain({ set: "ceremony/never-held" }) })).to.equal("ARTIFACT_SET_UNKNOWN");
    const set = "ceremony/autumn-2026";
    expect(await code({ chain: chain({ set }), keys: lockOf("development") })).to.equal("SET_MISMATCH");
    const keys = { ...lockOf("development"), set };
    expect(await code({ chain: chain({ set: "development" }), keys })).to.equal("SET_MISMATCH");
  });

  it("but with the fields of the deployment's manifest", async () => {
    const { rpcUrls } = shopOptions(world).chain;
    expect(await code({ chain: { ...parseDeployment(world), rpcUrls } })).to.equal("opened");
  });

  it("for a service that is away, or whose keys are not the pinned ones", async () => {
    expect(await code({ service: NOWHERE })).to.equal("SERVICE_UNAVAILABLE");
    const wrong = { wasm: "00".repeat(32), zkey: "00".repeat(32), vkey: "00".repeat(32) };
    const keys = { set: "development", circuits: { payment: wrong, elgamal_range: wrong } };
    expect(await code({ keys })).to.equal("KEY_NOT_PINNED");
    expect(await code({ keys: { set: "x", circuits: 7 } as never })).to.equal("ARTIFACTS_LOCK_INVALID");
  });
});
