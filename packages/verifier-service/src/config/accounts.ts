import { createSecureContext } from "node:tls";
import { isPublicAccount } from "@sotto/protocol";
import { isWrong, type ReadSettings, reportMissing } from "@sotto/server";
import { computeAddress } from "ethers";
import { MAX_ACCOUNTS } from "../relayer/types.ts";
import { SETTINGS, type Settings } from "./settings.ts";

type AccountSettings = Pick<Settings, "relayerKeys" | "signerAccounts" | "drainingAccounts">;

/** Addresses of the accounts whose keys the service has, lower case. */
const ownAddresses = ({ relayerKeys = [] }: AccountSettings): string[] =>
  relayerKeys.map((key) => computeAddress(key).toLowerCase());

/**
 * Reports what is wrong or missing in the settings of the relayer's accounts.
 * @param local whether public accounts are allowed
 */
export function reportAccounts(read: ReadSettings<typeof SETTINGS>, local: boolean): void {
  const { values, problems } = read;
  const { relayerKeys = [], signerUrl, signerAccounts = [] } = values;
  const isRemote = signerUrl !== undefined || isWrong(SETTINGS.signerUrl, problems);
  reportMissing(
    SETTINGS,
    read,
    isRemote
      ? ["signerAccounts", ...(relayerKeys.length === 0 ? (["clientSecret"] as const) : [])]
      : ["relayerKeys", ...(signerAccounts.length > 0 ? (["signerUrl"] as const) : [])],
  );
  problems.push(...certificateProblems(values), ...addressProblems(values, local));
}

function certificateProblems({ signerUrl, signerCa, signerCertificate, signerCertificateKey }: Settings): string[] {
  const problems: string[] = [];
  if ((signerCertificate === undefined) !== (signerCertificateKey === undefined))
    problems.push("SOTTO_SIGNER_CERTIFICATE_FILE and SOTTO_SIGNER_KEY_FILE need each other");
  const hasFiles = [signerCa, signerCertificate, signerCertificateKey].some((file) => file !== undefined);
  if (hasFiles && signerUrl?.startsWith("https:") === false)
    problems.push("SOTTO_SIGNER_URL must be an https URL if there are certificates for it");
  try {
    // Node otherwise finds out only when it connects that the key is not the certificate's.
    createSecureContext({ ca: signerCa, cert: signerCertificate, key: signerCertificateKey });
  } catch {
    problems.push(
      "SOTTO_SIGNER_CA_FILE, SOTTO_SIGNER_CERTIFICATE_FILE and SOTTO_SIGNER_KEY_FILE must be certificates and the second one's key, as PEM",
    );
  }
  return problems;
}

function addressProblems(settings: AccountSettings, local: boolean): string[] {
  const { signerAccounts = [], drainingAccounts = [] } = settings;
  const own = ownAddresses(settings);
  const all: readonly string[] = [...own, ...signerAccounts];
  const problems: string[] = [];
  const isPublic = (address: string) => !local && isPublicAccount(address);
  const why = "a public account of Hardhat and Anvil: anyone can take its ETH";
  if (own.some(isPublic)) problems.push(`SOTTO_RELAYER_KEY is ${why}`);
  if (signerAccounts.some(isPublic)) problems.push(`SOTTO_SIGNER_ACCOUNTS is ${why}`);
  const twice = all.find((address, index) => all.indexOf(address) < index);
  if (twice !== undefined)
    problems.push(`SOTTO_RELAYER_KEY and SOTTO_SIGNER_ACCOUNTS have the account ${twice} twice; name each once`);
  if (all.length > MAX_ACCOUNTS)
    problems.push(
      `SOTTO_RELAYER_KEY and SOTTO_SIGNER_ACCOUNTS have ${all.length} accounts; at most ${MAX_ACCOUNTS} are allowed`,
    );
  const unknown = drainingAccounts.find((address) => !all.includes(address));
  if (unknown !== undefined)
    problems.push(
      `SOTTO_DRAINING_ACCOUNTS has ${unknown}, which is not an account of the relayer; remove it there, too`,
    );
  const isDraining = (address: string) => drainingAccounts.some((draining) => draining === address);
  if (all.length > 0 && all.every(isDraining))
    problems.push("SOTTO_DRAINING_ACCOUNTS has all accounts, but one must send the transactions");
  return problems;
}
