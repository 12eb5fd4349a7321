import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";
import { poolFutures } from "../support/pool.ts";

/**
 * Deploys the test dollar and a pool for it. Parameter: `smallestDeposit`, as in ShieldedPool. Both modules have the
 * same id, so a deployment started with one token cannot be resumed with another.
 * @param set the key set whose verifiers are deployed
 */
export const localShieldedPool = (set = "development") =>
  buildModule("ShieldedPool", (m) => {
    const { token, contracts } = poolFutures(m, (options) => m.contract("TestUSDC", [], options), set);
    return { token, ...contracts };
  });

export default localShieldedPool();
