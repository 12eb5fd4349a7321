import { approveCall, settleCall } from "@sotto/chain/ethers";
import { POOL } from "@sotto/test-chain/pool";
import { TOKEN } from "@sotto/test-chain/token";
import { rejection, thrown } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { openUntouched, type UntouchedWorld } from "./support/untouched.ts";
import { MERCHANT, URL } from "./support/world.ts";

const HUGE = 1n << 64n;
/** Passes a value that the types forbid. */
const bad = (value: unknown) => value as never;

describe("invalid input", () => {
  let world: UntouchedWorld["world"];
  let wallet: UntouchedWorld["wallet"];
  let refuses: UntouchedWorld["refuses"];
  beforeEach(async () => {
    ({ world, wallet, refuses } = await openUntouched());
  });
  const address = () => wallet.shieldedAddress;

  it("is rejected for a payment", async () => {
    const good = { recipient: { wallet: MERCHANT, shieldedAddress: address() }, amount: 1_000n, resourceUrl: URL };
    const cases: [string, object][] = [
      ["INVALID_AMOUNT", { amount: -1n }],
      ["INVALID_AMOUNT", { amount: HUGE }],
      ["INVALID_AMOUNT", { amount: 1.5 }],
      ["INVALID_AMOUNT", { amount: "1000" }],
      ["INVALID_AMOUNT", { amount: undefined }],
      ["INVALID_OPTION", { amount: 0n }],
      ["INVALID_OPTION", { recipient: undefined }],
      ["INVALID_ADDRESS", { recipient: { ...good.recipient, wallet: "0x12" } }],
      ["INVALID_ADDRESS", { recipient: { ...good.recipient, wallet: "0xABababababababababababababababababababab" } }],
      ["INVALID_SHIELDED_ADDRESS", { recipient: { ...good.recipient, shieldedAddress: "0x00" } }],
      ["INVALID_SHIELDED_ADDRESS", { recipient: { ...good.recipient, shieldedAddress: `0x${"00".repeat(64)}` } }],
      ["INVALID_SHIELDED_ADDRESS", { recipient: { ...good.recipient, shieldedAddress: address().toUpperCase() } }],
      ["INVALID_OPTION", { resourceUrl: "" }],
      ["INVALID_OPTION", { resourceUrl: `https://x.example/${"a".repeat(2048)}` }],
      ["INVALID_STRING", { resourceUrl: "https://x.example/\ud800" }],
      ["INVALID_AMOUNT", { lowerBound: -1n }],
      ["INVALID_AMOUNT", { upperBound: HUGE }],
      ["INVALID_OPTION", { lowerBound: 1_001n }],
      ["INVALID_OPTION", { upperBound: 999n }],
    ];
    for (const [code, change] of cases) await refuses(code, () => wallet.pay({ ...good, ...change }));
    await refuses("INVALID_OPTION", () => wallet.pay(bad(undefined)));
    const missing = await refuses("INSUFFICIENT_FUNDS", () => wallet.pay({ ...good, amount: 50_001n }));
    expect(missing.details).to.include({ missing: "1", needed: "50001", available: "50000" });
    await refuses("INVALID_OPTION", () => wallet.pay(good, { merge: bad({}) }));
    await refuses("UNKNOWN_PAYMENT", () => wallet.payAgain("nothing"));
    expect(thrown(() => wallet.status("nothing")).code).to.equal("UNKNOWN_PAYMENT");
  });

  it("is rejected for a withdrawal or a merge", async () => {
    const recipient = `0x${"cc".repeat(20)}`;
    const good = { recipient, amount: 1_000n };
    const cases: [string, object][] = [
      ["INVALID_AMOUNT", { amount: -1n }],
      ["INVALID_AMOUNT", { amount: HUGE }],
      ["INVALID_AMOUNT", { amount: HUGE - 1n, fee: { amount: 1n, recipient } }],
      ["INVALID_AMOUNT", { fee: { amount: 0.5, recipient } }],
      ["INVALID_ADDRESS", { fee: { amount: 1n } }],
      ["INVALID_OPTION", { amount: 0n }],
      ["INVALID_ADDRESS", { recipient: undefined }],
      ["INVALID_OPTION", { recipient: `0x${"00".repeat(20)}` }],
      ["INVALID_OPTION", { recipient: POOL }],
      ["INVALID_OPTION", { fee: { amount: 1n, recipient: POOL } }],
      ["INVALID_OPTION", { fee: { amount: 1n, recipient: `0x${"00".repeat(20)}` } }],
      ["INVALID_OPTION", { validFor: 59 }],
      ["INVALID_OPTION", { validFor: 1e9 }],
      ["INSUFFICIENT_FUNDS", { amount: 50_001n }],
      ["INSUFFICIENT_FUNDS", { amount: 50_000n, fee: { amount: 1n, recipient } }],
    ];
    for (const [code, change] of cases) await refuses(code, () => wallet.withdraw({ ...good, ...change }));
    await refuses("INVALID_ADDRESS", () => wallet.withdraw(bad(undefined)));
    await refuses("FUNDS_NOT_READY", () => wallet.merge());
    await refuses("INVALID_AMOUNT", () => wallet.merge({ target: -1n }));
    await refuses("INSUFFICIENT_FUNDS", () => wallet.merge({ target: 50_001n }));
    await refuses("UNKNOWN_PAYMENT", () => wallet.withdrawAgain("nothing"));
  });

  it("is rejected for a deposit", async () => {
    const account = new Account(`0x${"77".repeat(32)}`);
    const good = { amounts: [1_000n], account };
    world.token.mint(account.address, 999n);
    world.chain.mine();
    for (const amounts of [undefined, [], "1000", Array(65).fill(1_000n), [999n], [1_000n, 999n]])
      await refuses("INVALID_OPTION", () => wallet.deposit({ amounts: bad(amounts) }));
    for (const amounts of [[-1n], [HUGE], [1_000], [1.5], [HUGE - 1n, HUGE - 1n]])
      await refuses("INVALID_AMOUNT", () => wallet.deposit({ amounts: bad(amounts) }));
    await refuses("INVALID_OPTION", () => wallet.deposit(bad(undefined)));
    await refuses("INVALID_ADDRESS", () => wallet.deposit({ amounts: [1_000n], account: "0x1" }));
    const missing = await refuses("INSUFFICIENT_TOKENS", () => wallet.authorizeDeposit(good));
    expect(missing.details).to.include({ missing: "1" });
    world.token.mint(account.address, 5_000n);
    await refuses("INVALID_OPTION", () => wallet.authorizeDeposit({ ...good, account: bad({}) }));
    await refuses("INVALID_OPTION", () => wallet.authorizeDeposit({ ...good, validFor: 1 }));
    const sponsor = { shieldedAddress: "0x", fee: 1_000n };
    await refuses("INVALID_SHIELDED_ADDRESS", () => wallet.authorizeDeposit({ ...good, sponsor }));
    const free = { shieldedAddress: address(), fee: 0n };
    await refuses("INVALID_OPTION", () => wallet.authorizeDeposit({ ...good, sponsor: free }));
  });

  it("is rejected if the token's actual EIP-712 domain differs from its declared one, and the chain has no Permit2", async () => {
    const account = new Account(`0x${"77".repeat(32)}`);
    world.token.mint(account.address, 5_000n);
    world.token.separator = `0x${"12".repeat(32)}`;
    const error = await rejection(wallet.authorizeDeposit({ amounts: [1_000n], account }));
    expect(error.code).to.equal("DEPOSIT_REFUSED");
    expect(error.message).to.include("no Permit2");
  });

  it("is rejected by the functions that encode calls", () => {
    expect(thrown(() => settleCall("0x", [])).code).to.equal("INVALID_ADDRESS");
    expect(thrown(() => approveCall(TOKEN, POOL, -1n)).code).to.equal("INVALID_INTEGER");
  });
});
