import { BASE_FIELD_MODULUS, REHEARSAL_CHAIN_ID } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { connect } from "@sotto/test-pool/hardhat/deploy";
import { expect } from "chai";
import { ZeroAddress } from "ethers";
import LocalShieldedPool from "../../ignition/modules/LocalShieldedPool.ts";
import ShieldedPool from "../../ignition/modules/ShieldedPool.ts";

/** The constructor's addresses, in order. */
const SETTINGS = ["token", "paymentVerifier", "withdrawalVerifier", "noteAppendVerifier", "noteHasher"] as const;

describe("deployment", function () {
  slow(this, "transactions and proofs on a chain in this process");
  it("deploys the test dollar, the verifiers and a pool", async () => {
    const { ethers, ignition } = await connect();
    const deployed = await ignition.deploy(LocalShieldedPool, {
      parameters: { ShieldedPool: { smallestDeposit: 5n } },
    });
    const pool = await ethers.getContractAt("ShieldedPool", await deployed.pool.getAddress());
    expect(await pool.token()).to.equal(await deployed.token.getAddress());
    expect(await pool.paymentVerifier()).to.equal(await deployed.paymentVerifier.getAddress());
    expect(await pool.withdrawalVerifier()).to.equal(await deployed.withdrawalVerifier.getAddress());
    expect(await pool.noteAppendVerifier()).to.equal(await deployed.noteAppendVerifier.getAddress());
    expect(await pool.smallestDeposit()).to.equal(5n);
  });

  it("deploys a pool for an existing token", async () => {
    const { ethers, ignition } = await connect();
    const token = await (await ethers.deployContract("TestUSDC")).getAddress();
    const deployed = await ignition.deploy(ShieldedPool, { parameters: { ShieldedPool: { token } } });
    const pool = await ethers.getContractAt("ShieldedPool", await deployed.pool.getAddress());
    expect(await pool.token()).to.equal(token);
    expect(await pool.smallestDeposit()).to.equal(10_000n);
  });

  for (const chainId of [1, 8453, 84532]) {
    it(`rejects development keys on chain ${chainId} before it deploys anything`, async () => {
      const { ethers, ignition } = await connect(chainId);
      const [deployer] = await ethers.getSigners();
      const refused = ignition.deploy(LocalShieldedPool).then(
        () => "deployed",
        (error: Error) => error.message,
      );
      expect(await refused).to.include("DevelopmentKeysRefused");
      const count = await deployer!.getNonce();
      for (let nonce = 0; nonce < count; nonce++) {
        const address = ethers.getCreateAddress({ from: deployer!.address, nonce });
        const { length } = await ethers.provider.getCode(address);
        expect(length, `bytes deployed by transaction ${nonce}`).to.equal("0x".length);
      }
    });
  }

  it("rejects each verifier of development keys on a public chain, however it is deployed", async () => {
    const elsewhere = await connect(84532);
    for (const name of ["PaymentVerifier", "WithdrawalVerifier", "NoteAppendVerifier"]) {
      const factory = await elsewhere.ethers.getContractFactory(name);
      await expect(factory.deploy(), name)
        .to.be.revertedWithCustomError(factory, "DevelopmentKeysRefused")
        .withArgs(84532n);
    }
    const local = await connect(1337);
    await local.ethers.deployContract("PaymentVerifier");
  });

  it("rejects a rehearsal's keys on every chain except local ones and the chain for rehearsals", async () => {
    for (const chainId of [31337, 1337, Number(REHEARSAL_CHAIN_ID)])
      await (await connect(chainId)).ethers.deployContract("RehearsedContract");
    for (const chainId of [1, 8453, Number(REHEARSAL_CHAIN_ID) + 1]) {
      const factory = await (await connect(chainId)).ethers.getContractFactory("RehearsedContract");
      await expect(factory.deploy()).to.be.revertedWithCustomError(factory, "RehearsalKeysRefused").withArgs(chainId);
    }
    const rehearsal = await connect(Number(REHEARSAL_CHAIN_ID));
    const verifier = await rehearsal.ethers.getContractFactory("PaymentVerifier");
    await expect(verifier.deploy()).to.be.revertedWithCustomError(verifier, "DevelopmentKeysRefused");
  });

  it("rejects a configuration that could never work and names the setting", async () => {
    const { ethers } = await connect();
    const token = await ethers.deployContract("TestUSDC");
    const names = ["PaymentVerifier", "WithdrawalVerifier", "NoteAppendVerifier", "PoseidonT4"];
    const contracts = await Promise.all(names.map((name) => ethers.deployContract(name)));
    const good = await Promise.all([token, ...contracts].map((contract) => contract.getAddress()));
    const { interface: abi } = await ethers.deployContract("ShieldedPool", [...good, 1n]);
    const factory = await ethers.getContractFactory("ShieldedPool");
    const deploy = (args: readonly unknown[]) => factory.deploy(...(args as Parameters<typeof factory.deploy>));
    const rejects = (args: readonly unknown[], setting: string, why: string) =>
      expect(deploy(args), `${setting}: ${why}`)
        .to.be.revertedWithCustomError({ interface: abi }, "InvalidConfiguration")
        .withArgs(setting);
    for (const [i, setting] of SETTINGS.entries())
      await rejects([...good.with(i, ZeroAddress), 1n], setting, "an address without code");
    await rejects([...good, 0n], "smallestDeposit", "0");
    await rejects([...good.with(4, good[1]!), 1n], "noteHasher", "a contract that is not a hash");
    for (const [i, other] of [
      [1, 2],
      [2, 3],
      [3, 1],
      [3, 2],
    ] as const)
      await rejects([...good.with(i, good[other]!), 1n], SETTINGS[i], "the verifier of another circuit");
    const credulous = await (await ethers.deployContract("CredulousVerifier")).getAddress();
    for (const i of [1, 2, 3] as const)
      await rejects([...good.with(i, credulous), 1n], SETTINGS[i], "a verifier that accepts every proof");
    await rejects([...good.with(4, credulous), 1n], "noteHasher", "another hash");
  });

  it("rejects a verification key whose delta is gamma or its negative, because proofs for it can be forged", async () => {
    const { ethers } = await connect();
    const names = ["TestUSDC", "PaymentVerifier", "WithdrawalVerifier", "NoteAppendVerifier", "PoseidonT4"];
    const contracts = await Promise.all(names.map((name) => ethers.deployContract(name)));
    const good = await Promise.all(contracts.map((contract) => contract.getAddress()));
    const factory = await ethers.getContractFactory("ShieldedPool");
    const verifier = await ethers.getContractAt("PaymentVerifier", good[1]!);
    const key = [...(await verifier.verificationKey())];
    const [gamma, delta] = [key.slice(6, 10), key.slice(10, 14)];
    const negative = gamma.map((word, i) => (i < 2 ? word : BASE_FIELD_MODULUS - word));
    for (const index of [1, 2, 3] as const) {
      const deployWith = async (chosen: readonly bigint[]) => {
        const keyed = await ethers.deployContract("KeyedVerifier", [gamma, chosen]);
        const args = [...good.with(index, await keyed.getAddress()), 1n];
        return factory.deploy(...(args as Parameters<typeof factory.deploy>));
      };
      for (const chosen of [gamma, negative])
        await expect(deployWith(chosen))
          .to.be.revertedWithCustomError(factory, "InvalidConfiguration")
          .withArgs(SETTINGS[index]);
      expect(await (await deployWith(delta)).smallestDeposit(), "with the delta of a finished key").to.equal(1n);
    }
  });
});
