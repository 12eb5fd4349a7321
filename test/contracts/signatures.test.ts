import {
  type Address,
  type BindingTypedData,
  bindingDigest,
  bindingTypedData,
  deriveKeys,
  type EthCall,
  type ShieldedAddressBinding,
  verifyBindingSignature,
} from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { type Connection, connect } from "@sotto/test-pool/hardhat/deploy";
import { expect } from "chai";
import { AbiCoder, concat, type HDNodeWallet, Wallet, ZeroAddress, zeroPadValue } from "ethers";
import type { ContractWalletFactory } from "../../types/ethers-contracts/index.js";

const MAGIC = "0x1626ba7e";
const WRAPPED = `0x${"6492".repeat(16)}`;
const SALT = `0x${"07".repeat(32)}`;
const ANSWER = { Revert: 0, RevertWithMagic: 1, Bytes: 2, BurnGas: 3, HugeReturn: 4, Write: 5 };
const POOL = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
const key = deriveKeys(new Uint8Array(32).fill(7), { chainId: 31337n, pool: POOL }).shieldedAddress();

const bindingOf = (wallet: string): ShieldedAddressBinding => ({
  phone: "+14155550100",
  wallet: wallet.toLowerCase() as Address,
  key,
  chainId: 31337n,
  pool: POOL,
  service: "https://phones.example/zk",
  issuedAt: 1_800_000_000,
});

const sign = (signer: HDNodeWallet, { domain, types, message }: BindingTypedData) =>
  signer.signTypedData(domain, types, message);

/** EIP-6492: a signature, wrapped together with the call that deploys its wallet. */
const wrap = (factory: string, factoryCall: string, signature: string) =>
  concat([
    AbiCoder.defaultAbiCoder().encode(["address", "bytes", "bytes"], [factory, factoryCall, signature]),
    WRAPPED,
  ]);

describe("signatures of contract wallets", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let connection: Connection;
  let factory: ContractWalletFactory;
  let call: EthCall;
  const owner = Wallet.createRandom();
  const stranger = Wallet.createRandom();

  beforeEach(async () => {
    connection = await connect();
    factory = await connection.ethers.deployContract("ContractWalletFactory");
    call = (request) => connection.ethers.provider.call(request);
  });

  const addressOf = (salt = SALT) => factory["addressOf"]!.staticCall(owner.address, salt) as Promise<string>;
  const creation = (salt = SALT) => factory.interface.encodeFunctionData("create", [owner.address, salt]);
  const troublesome = async (answer: number, returned = "0x") =>
    (await connection.ethers.deployContract("TroublesomeWallet", [answer, returned])).getAddress();

  it("are accepted for a deployed wallet, only from its owner and only for this binding", async () => {
    await (await factory.create(owner.address, SALT)).wait();
    const binding = bindingOf(await addressOf());
    const signature = await sign(owner, bindingTypedData(binding));
    expect(await verifyBindingSignature(binding, signature, call)).to.equal(true);
    expect(await verifyBindingSignature(binding, signature.toUpperCase().replace("0X", "0x"), call)).to.equal(true);
    const foreign = await sign(stranger, bindingTypedData(binding));
    expect(await verifyBindingSignature(binding, foreign, call)).to.equal(false);
    const other = { ...binding, phone: "+14155550101" };
    expect(await verifyBindingSignature(other, signature, call)).to.equal(false);
    // The binding names the wallet, so the signature is not valid for the owner's own account.
    expect(await verifyBindingSignature(bindingOf(owner.address), signature, call)).to.equal(false);
  });

  it("are accepted for a wallet that is not deployed yet, without deploying it", async () => {
    const address = await addressOf();
    const binding = bindingOf(address);
    const inner = await sign(owner, bindingTypedData(binding));
    const target = await factory.getAddress();
    expect(await verifyBindingSignature(binding, wrap(target, creation(), inner), call)).to.equal(true);
    expect(await connection.ethers.provider.getCode(address)).to.equal("0x");
    // Without the wrapper, there is no contract to call.
    expect(await verifyBindingSignature(binding, inner, call)).to.equal(false);
    const foreign = await sign(stranger, bindingTypedData(binding));
    expect(await verifyBindingSignature(binding, wrap(target, creation(), foreign), call)).to.equal(false);
    // A factory that deploys another wallet, deploys none, or does not exist.
    const elsewhere = wrap(target, creation(`0x${"08".repeat(32)}`), inner);
    expect(await verifyBindingSignature(binding, elsewhere, call)).to.equal(false);
    for (const [to, data] of [
      [target, "0x"],
      [target, "0xdeadbeef"],
      [stranger.address, creation()],
      [ZeroAddress, creation()],
      [await troublesome(ANSWER.Revert), creation()],
      [await troublesome(ANSWER.BurnGas), creation()],
      [await troublesome(ANSWER.HugeReturn), creation()],
      [await troublesome(ANSWER.Bytes, zeroPadValue(MAGIC, 32)), creation()],
    ] as const)
      expect(await verifyBindingSignature(binding, wrap(to, data, inner), call), `${to} ${data}`).to.equal(false);
  });

  it("may stay wrapped after the wallet is deployed; the factory is not called again", async () => {
    await (await factory.create(owner.address, SALT)).wait();
    const binding = bindingOf(await addressOf());
    const inner = await sign(owner, bindingTypedData(binding));
    expect(await verifyBindingSignature(binding, wrap(await factory.getAddress(), creation(), inner), call)).to.equal(
      true,
    );
    const trouble = await troublesome(ANSWER.BurnGas);
    expect(await verifyBindingSignature(binding, wrap(trouble, "0x", inner), call)).to.equal(true);
    const foreign = await sign(stranger, bindingTypedData(binding));
    expect(await verifyBindingSignature(binding, wrap(trouble, "0x", foreign), call)).to.equal(false);
  });

  it("are rejected if the wallet reverts, burns gas, writes, or returns something else", async () => {
    const word = zeroPadValue("0x01", 32);
    const magicWord = `${MAGIC}${"00".repeat(28)}`;
    const cases: [string, number, string][] = [
      ["reverts", ANSWER.Revert, "0x"],
      ["reverts with the right answer", ANSWER.RevertWithMagic, magicWord],
      ["burns all gas it gets", ANSWER.BurnGas, "0x"],
      ["returns a megabyte", ANSWER.HugeReturn, "0x"],
      ["writes and then answers right", ANSWER.Write, magicWord],
      ["returns nothing", ANSWER.Bytes, "0x"],
      ["returns true", ANSWER.Bytes, word],
      ["returns the selector at the wrong end", ANSWER.Bytes, zeroPadValue(MAGIC, 32)],
      ["returns the selector and dirt", ANSWER.Bytes, `${MAGIC}${"00".repeat(27)}01`],
      ["returns four bytes", ANSWER.Bytes, MAGIC],
      ["returns 31 bytes", ANSWER.Bytes, `${MAGIC}${"00".repeat(27)}`],
      ["rejects as the standard's reference does", ANSWER.Bytes, `0xffffffff${"00".repeat(28)}`],
    ];
    for (const [what, answer, returned] of cases) {
      const binding = bindingOf(await troublesome(answer, returned));
      expect(await verifyBindingSignature(binding, "0x01", call), what).to.equal(false);
    }
    const accepting = bindingOf(await troublesome(ANSWER.Bytes, magicWord));
    expect(await verifyBindingSignature(accepting, "0x01", call), "the control").to.equal(true);
    const longer = bindingOf(await troublesome(ANSWER.Bytes, magicWord + "ff".repeat(64)));
    expect(await verifyBindingSignature(longer, "0x01", call), "further bytes after the word").to.equal(true);
  });

  it("are rejected for an address without code and for a precompile", async () => {
    for (const wallet of [stranger.address, ZeroAddress, "0x0000000000000000000000000000000000000001"]) {
      const binding = bindingOf(wallet);
      const signature = await sign(owner, bindingTypedData(binding));
      expect(await verifyBindingSignature(binding, signature, call), wallet).to.equal(false);
    }
    // The identity precompile returns its input, and the calldata starts with the selector that means "valid".
    const identity = bindingOf("0x0000000000000000000000000000000000000004");
    expect(bindingDigest(identity)).to.match(/^0x[0-9a-f]{64}$/);
    expect(await verifyBindingSignature(identity, `0x${"00".repeat(32)}`, call)).to.equal(false);
  });
});
