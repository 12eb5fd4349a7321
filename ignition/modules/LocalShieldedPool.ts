import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";
import { poolFutures } from "../support/pool.ts";

/**
 * The test dollar and a pool for it. Parameter: `smallestDeposit`, as in ShieldedPool, whose id it shares: a deployment
 * that was begun with the one token is not gone on with for the other.
 * @param set whose verifiers are deployed
 */
export const localShieldedPool = (set = "development") =>
  buildModule("ShieldedPool", (m) => {
    const { token, contracts } = poolFutures(m, (options) => m.contract("TestUSDC", [], options), set);
    return { token, ...contracts };
  });

export default localShieldedPool();
