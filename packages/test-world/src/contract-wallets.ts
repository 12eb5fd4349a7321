// Wallets that sign typed data: accounts, and contract wallets on the tests' chain, deployed from the artifacts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BindingTypedData, RequestTypedData } from "@sotto/protocol";
import {
  AbiCoder,
  type BaseContract,
  type Contract,
  ContractFactory,
  concat,
  hexlify,
  randomBytes,
  Wallet,
} from "ethers";
import type { World } from "./service.ts";

export interface Signer {
  /** Lower case. */
  readonly address: string;
  sign(data: BindingTypedData | RequestTypedData): Promise<string>;
}

export function account(wallet = new Wallet(Wallet.createRandom().privateKey)): Signer {
  return {
    address: wallet.address.toLowerCase(),
    sign: ({ domain, types, message }) => wallet.signTypedData(domain, { ...types }, { ...message }),
  };
}

const folder = join(import.meta.dirname, "..", "..", "..", "artifacts", "contracts", "test");
const artifact = (name: string): { abi: string[]; bytecode: string } =>
  JSON.parse(readFileSync(join(folder, `${name}.sol`, `${name}.json`), "utf8"));

async function deploy(world: Pick<World, "provider">, name: string, ...args: unknown[]): Promise<BaseContract> {
  const { abi, bytecode } = artifact(name);
  const contract = await new ContractFactory(abi, bytecode, await world.provider.getSigner(0)).deploy(...args);
  return contract.waitForDeployment();
}

/** The contract's answers to a signature check; see contracts/test/TroublesomeWallet.sol. */
export const ANSWER = { Revert: 0, RevertWithMagic: 1, Bytes: 2, BurnGas: 3, HugeReturn: 4, Write: 5 } as const;

export async function troublesome(world: Pick<World, "provider">, answer: number, returned = "0x"): Promise<string> {
  return (await (await deploy(world, "TroublesomeWallet", answer, returned)).getAddress()).toLowerCase();
}

/** Deploys a contract wallet with a new owner. */
export async function contractWallet(world: Pick<World, "provider">): Promise<Signer> {
  const owner = account();
  const address = (await (await deploy(world, "ContractWallet", owner.address)).getAddress()).toLowerCase();
  return { address, sign: (data) => owner.sign(data) };
}

const WRAPPED = `0x${"6492".repeat(16)}`;

/** A contract wallet that is not deployed yet; its signatures contain the call that would deploy it. */
export async function futureWallet(world: Pick<World, "provider">): Promise<Signer> {
  const owner = account();
  const factory = (await deploy(world, "ContractWalletFactory")) as Contract;
  const salt = hexlify(randomBytes(32));
  const address = String(await factory.getFunction("addressOf")(owner.address, salt)).toLowerCase();
  const creation = factory.interface.encodeFunctionData("create", [owner.address, salt]);
  const target = await factory.getAddress();
  return {
    address,
    async sign(data) {
      const inner = await owner.sign(data);
      const wrapped = AbiCoder.defaultAbiCoder().encode(["address", "bytes", "bytes"], [target, creation, inner]);
      return concat([wrapped, WRAPPED]);
    },
  };
}
