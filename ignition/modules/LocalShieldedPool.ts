import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";
import { poolFutures } from "../support/pool.ts";

/**
 * The test dollar and a pool for it. Parameter: `smallestDeposit`, as in ShieldedPool.
 * @param set whose verifiers are deployed
 */
export const localShieldedPool = (set = "development") =>
  buildModule("LocalShieldedPool", (m) => {
    const { token, contracts } = poolFutures(m, (options) => m.contract("TestUSDC", [], options), set);
    return { token, ...contracts };
  });

export default localShieldedPool();
