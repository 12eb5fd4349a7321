/**
 * The most memory that this process had at any time, bytes. resourceUsage().maxRSS is no less than what the parent had when it
 * started this process, so Linux's own count is read.
 */
export declare function peak(): number;
