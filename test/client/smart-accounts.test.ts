// Wallets that are funded by contract accounts and by accounts with a delegation, through a real service and pool.

import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import {
  contractWallet,
  delegate,
  delegatedAccount,
  ownersWallet,
  type SmartAccount,
} from "@sotto/test-world/contract-wallets";
import { createWorld, openWallet, openWorld, type World } from "@sotto/test-world/wallets";
import type { DepositSigner, Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Contract, Wallet as Key } from "ethers";

const HELD = 1_000_000n;
const AMOUNTS = [30_000n, 10_000n];
const TOTAL = 40_000n;

/** Both implementations of EIP-7702 that the tests have. */
const WORLDS: [string, () => Promise<World>][] = [
  ["Hardhat", openWorld],
  ["Anvil", async () => createWorld(await startDeployedAnvil())],
];

for (const [node, open] of WORLDS)
  describe(`a wallet that a smart account funds, on ${node}`, function () {
    slow(this, "a chain and a service");
    let world: World;
    let token: Contract;
    let wallet: Wallet;
    before(async () => {
      world = await open();
      const abi = ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"];
      token = new Contract(world.token, abi, world.depositor);
    });
    beforeEach(async () => {
      wallet = await openWallet(world);
    });

    const tokensOf = (account: string): Promise<bigint> => token.getFunction("balanceOf")(account);
    const signerOf = ({ from, depositor }: SmartAccount): DepositSigner => ({
      getAddress: async () => from,
      signTypedData: (domain, types, value) => depositor.signTypedData(domain, types, value),
    });
    const funded = async <A extends SmartAccount>(account: A): Promise<A> => {
      await (await token.getFunction("mint")(account.from, HELD)).wait();
      return account;
    };

    /** Funds the wallet, and checks every balance. */
    const funds = async (account: SmartAccount) => {
      const [held, pool] = [await tokensOf(account.from), await tokensOf(world.pool)];
      const before = wallet.balance().spendable;
      await wallet.fund({ amounts: AMOUNTS, account: signerOf(account), service: world.serviceUrl });
      expect([await tokensOf(account.from), await tokensOf(world.pool)]).to.deep.equal([held - TOTAL, pool + TOTAL]);
      expect(wallet.balance().spendable - before).to.equal(TOTAL);
    };
    const refuses = async (account: SmartAccount) => {
      const held = await tokensOf(account.from);
      const options = { amounts: AMOUNTS, account: signerOf(account), service: world.serviceUrl };
      const refused = await rejection(wallet.fund(options));
      expect(refused.code).to.equal("DEPOSIT_REFUSED");
      expect(refused.message).to.match(/the token would refuse it: FiatTokenV2: invalid signature$/);
      expect([await tokensOf(account.from), await wallet.unfinishedDeposits()]).to.deep.equal([held, []]);
    };

    it("receives what a contract account with one owner and one with three owners sign", async () => {
      const { address, owner } = await contractWallet(world);
      const single = await funded({ from: address, depositor: owner });
      const several = await funded(await ownersWallet(world));
      await funds(single);
      await funds(several);
      await refuses({ ...single, depositor: Key.createRandom() });
      await refuses({ ...several, depositor: several.owners[0]! });
    });

    it("receives what a delegated account signs with its key or a session key, until the delegation changes", async () => {
      const account = await funded(await delegatedAccount(world));
      await funds(account);
      await funds({ ...account, depositor: account.key });
      // Code without EIP-1271: the token asks it, and not the key.
      await delegate(world, account.key, world.token);
      await refuses(account);
      await refuses({ ...account, depositor: account.key });
      await delegate(world, account.key, `0x${"00".repeat(20)}`);
      await refuses(account);
      await funds({ ...account, depositor: account.key });
    });
  });
