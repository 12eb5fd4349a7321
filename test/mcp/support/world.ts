// The world of this folder's tests: its service has a phone registry. All files share it.

import { join } from "node:path";
import { signPhoneLink } from "@sotto/client";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { phoneSettings, sentCodes } from "@sotto/test-world/phone";
import { openWorld, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { Wallet as Account } from "ethers";

const folder = temporaryFolder("mcp");
const codes = join(folder, "codes.jsonl");

export const openMcpWorld = (): Promise<World> =>
  openWorld({ ...phoneSettings, SOTTO_PHONE_CODE_FILE: codes, SOTTO_PHONE_KEYS: join(folder, "phone-keys") });

/** Links a number to the wallet of a new account, and verifies it. */
export async function linkPhone({ service, serviceUrl }: World, wallet: Wallet, phone: string): Promise<void> {
  const link = await signPhoneLink(wallet, Account.createRandom(), { phone, service: serviceUrl });
  await service.link({ ...link });
  const { code } = sentCodes(codes).findLast(({ phoneNumber }) => phoneNumber === phone)!;
  await service.phoneVerify({ phoneNumber: phone, walletAddress: link.walletAddress, code });
}
