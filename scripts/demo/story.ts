// The story, in the order in which it is played.
import type { Step } from "./step.ts";
import { challenge } from "./steps/challenge.ts";
import { deposit } from "./steps/deposit.ts";
import { link } from "./steps/link.ts";
import { number } from "./steps/number.ts";
import { observer } from "./steps/observer.ts";
import { one } from "./steps/one.ts";
import { read } from "./steps/read.ts";
import { restore } from "./steps/restore.ts";
import { ten } from "./steps/ten.ts";
import { withdraw } from "./steps/withdraw.ts";

export const story: readonly Step[] = [deposit, link, challenge, one, ten, number, read, observer, restore, withdraw];
