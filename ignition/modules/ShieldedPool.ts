import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";
import { poolFutures } from "../support/pool.ts";

/**
 * Deploys a pool for an existing token. Parameters: `token` (address of an ERC-20 with EIP-3009, for example USDC) and
 * `smallestDeposit` (base units, 10,000 by default).
 * @param set the key set whose verifiers are deployed
 */
export const shieldedPool = (set = "development") =>
  buildModule("ShieldedPool", (m) => poolFutures(m, () => m.getParameter<string>("token"), set).contracts);

export default shieldedPool();
