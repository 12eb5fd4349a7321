import { assertFields, invalidOption } from "@sotto/resource-server";
import { CREDENTIAL_HEADER } from "../index.ts";

/** Options of the method. */
export interface MppOptions {
  /**
   * The secret with which the server recognizes its challenges: 32 to 256 characters that nobody can guess, such as those of
   * `openssl rand -base64 32`. All servers of an origin need the same. To replace it, give a list: challenges are issued
   * with the first, and accepted with each of them.
   */
  readonly secret: string | readonly string[];
  /** Names the server's protection space to clients, 1 to 128 printable ASCII characters. Default: the host of the origin. */
  readonly realm?: string | undefined;
  /**
   * The request header for credentials. `Payment-Authorization` is for routes whose clients also send a credential of the
   * application in `Authorization`, which mppx would replace. Default: Authorization.
   */
  readonly header?: "Authorization" | "Payment-Authorization" | undefined;
}

/** The options, checked. */
export interface MppConfig {
  readonly secrets: readonly string[];
  readonly realm: string;
  /** The challenge's parameter `header`; undefined for Authorization. */
  readonly header: string | undefined;
}

/** mppx's name of the header for servers where Authorization belongs to the application. */
const OTHER_HEADER = "Payment-Authorization";
/** Challenges live for minutes, so nobody needs more than the secret before. */
const MAX_SECRETS = 4;
const SECRET = /^[!-~]{32,256}$/;
/** Without the separator of the values that a challenge's id binds. */
const REALM = /^[ -{}~]{1,128}$/;

/** @throws PaywallError INVALID_OPTION, whose message never contains a secret */
export function parseMpp(options: MppOptions, origin: string): MppConfig {
  if (typeof options !== "object" || options === null) throw invalidOption("the options of mpp must be an object");
  assertFields(options, "mpp", ["secret", "realm", "header"]);
  const { secret, realm = new URL(origin).host, header = CREDENTIAL_HEADER } = options;
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const isSecret = (one: unknown): one is string => typeof one === "string" && SECRET.test(one);
  if (secrets.length === 0 || secrets.length > MAX_SECRETS || !secrets.every(isSecret))
    throw invalidOption(
      `mpp.secret must have 32 to 256 printable ASCII characters without spaces, or be a list of 1 to ${MAX_SECRETS} such texts`,
    );
  if (new Set(secrets).size !== secrets.length) throw invalidOption("two of mpp.secret are the same");
  if (typeof realm !== "string" || !REALM.test(realm))
    throw invalidOption("mpp.realm must have 1 to 128 printable ASCII characters, without |");
  if (header !== CREDENTIAL_HEADER && header !== OTHER_HEADER)
    throw invalidOption(`mpp.header must be ${CREDENTIAL_HEADER} or ${OTHER_HEADER}`);
  return { secrets, realm, header: header === CREDENTIAL_HEADER ? undefined : header };
}
