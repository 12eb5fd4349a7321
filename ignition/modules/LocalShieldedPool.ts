import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";
import { poolFutures } from "../support/pool.ts";

/** The test dollar and a pool for it: for local chains. Parameter: `smallestDeposit`, as in ShieldedPool. */
export default buildModule("LocalShieldedPool", (m) => {
  const { token, contracts } = poolFutures(m, (options) => m.contract("TestUSDC", [], options));
  return { token, ...contracts };
});
