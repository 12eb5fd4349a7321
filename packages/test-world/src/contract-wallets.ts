// Wallets that sign typed data: accounts, and contract wallets on the tests' chain, deployed from the artifacts.
import type { BindingTypedData, RequestTypedData } from "@sotto/protocol";
import type { TypedDataSigner } from "@sotto/test-pool/authorization";
import { AbiCoder, type Contract, concat, HDNodeWallet, hexlify, randomBytes, Wallet } from "ethers";
import { deployContract } from "./contracts.ts";
import type { World } from "./service.ts";

/** The first of Hardhat's public accounts: a node signs no transactions of type 4. */
const SPONSOR = HDNodeWallet.fromPhrase("test test test test test test test test test test test junk");

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

/** The contract's answers to a signature check; see contracts/test/TroublesomeWallet.sol. */
export const ANSWER = { Revert: 0, RevertWithMagic: 1, Bytes: 2, BurnGas: 3, HugeReturn: 4, Write: 5 } as const;

export async function troublesome(world: Pick<World, "provider">, answer: number, returned = "0x"): Promise<string> {
  return (await (await deployContract(world, "test/TroublesomeWallet", answer, returned)).getAddress()).toLowerCase();
}

/** Deploys a contract wallet with a new owner. */
export async function contractWallet(world: Node): Promise<Signer & { readonly owner: Wallet }> {
  const owner = newKey();
  return { address: await contractWalletOf(world, owner.address), owner, sign: account(owner).sign };
}

/** Deploys a contract wallet. @returns its address, lower case */
export const contractWalletOf = (world: Node, owner: string): Promise<string> =>
  addressOf(deployContract(world, "test/ContractWallet", owner));

/** An account that can hold tokens, and what signs for it. */
export interface SmartAccount {
  /** Lower case. */
  readonly from: string;
  readonly depositor: TypedDataSigner;
}

type Node = Pick<World, "provider">;
const newKey = () => new Wallet(Wallet.createRandom().privateKey);

/** A contract account with three owners, whose signatures have 195 bytes. */
export async function ownersWallet(world: Node): Promise<SmartAccount & { readonly owners: readonly Wallet[] }> {
  const owners = [newKey(), newKey(), newKey()];
  const from = await addressOf(
    deployContract(
      world,
      "test/OwnersWallet",
      owners.map(({ address }) => address),
    ),
  );
  const signTypedData: TypedDataSigner["signTypedData"] = async (...data) =>
    concat(await Promise.all(owners.map((owner) => owner.signTypedData(...data))));
  return { from, owners, depositor: { signTypedData } };
}

/** A key's account with a delegation (EIP-7702), whose session key signs 66 bytes. */
export async function delegatedAccount(world: Node): Promise<SmartAccount & { readonly key: Wallet }> {
  const [key, session] = [newKey().connect(world.provider), newKey()];
  const code = await addressOf(deployContract(world, "test/DelegatedAccount", session.address));
  await delegate(world, key, code);
  const signTypedData: TypedDataSigner["signTypedData"] = async (...data) =>
    concat(["0x01", await session.signTypedData(...data)]);
  return { from: key.address.toLowerCase(), key, depositor: { signTypedData } };
}

/** Gives the account of a key the code of a contract. Another account pays the gas. */
export async function delegate({ provider }: Node, key: Wallet, code: string): Promise<void> {
  const { chainId } = await provider.getNetwork();
  const nonce = await provider.getTransactionCount(key.address);
  const authorization = await key.authorize({ address: code, nonce, chainId });
  const sponsor = SPONSOR.connect(provider);
  await (await sponsor.sendTransaction({ type: 4, to: sponsor.address, authorizationList: [authorization] })).wait();
}

/** A contract account that accepts every signature; see contracts/test/CostlyWallet.sol. */
export const costlyWallet = async (world: Node, cost: bigint): Promise<Contract> =>
  await deployContract(world, "test/CostlyWallet", cost);

const addressOf = async (contract: Promise<Contract>): Promise<string> =>
  (await (await contract).getAddress()).toLowerCase();

const WRAPPED = `0x${"6492".repeat(16)}`;

/** A contract wallet that is not deployed yet; its signatures contain the call that would deploy it. */
export async function futureWallet(world: Pick<World, "provider">): Promise<Signer> {
  const owner = account();
  const factory = await deployContract(world, "test/ContractWalletFactory");
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
