import { BoundedMap } from '../base/boundedMap';
import type { InputError } from '../base/inputError';
import type { Account } from './account';
import { accountKey } from './identity';

/*
 * A service blocks an address after a few failed logins, and then everything of that n8n stops. So an
 * execution asks with one item first, and an account that is rejected is not asked again before the
 * execution's next wait: a loop over 20 items asked 20 times (measured). Which services block, and for how
 * long, nobody can tell from outside.
 *
 * Each process knows this of what it runs itself. In queue mode a worker runs an execution from one wait to
 * the next, so no other process has to know.
 */

/** An execution from one wait to the next. */
export interface Session {
	/** Undefined where n8n gives none, as behind an MCP Server Trigger. */
	executionId: string | undefined;
	/** n8n's object for it, which no other session has. */
	identity: object;
	/** How many of n8n's own Wait nodes have run before the node: short waits end no session. */
	countShortWaits: () => number;
}

/** What a service asked for that had too many requests (HTTP 429). */
export class Pause {
	/** @param seconds how long to send nothing; undefined where the service did not say */
	constructor(readonly seconds: number | undefined) {}
}

/** No token could be fetched for an item, for a reason that may be over for the next one. */
export class WithoutToken {
	constructor(readonly error: InputError) {}
}

/** What a response said of its account; undefined where it said nothing. */
export type Standing =
	| 'tokenAccepted'
	/** The token was rejected, and the next request has another one. */
	| 'tokenReplaced'
	/** Why nothing more is sent. */
	| InputError
	| Pause
	| WithoutToken
	| undefined;

/** A pause that a service asked for, until a moment or, where that is not known, until a wait. */
interface RunningPause {
	/** In milliseconds of the monotonic clock. */
	until?: number;
	/** How many short waits there had been. */
	shortWaits: number;
}

/** What a session knows of one account. */
interface KnownAccount {
	key: string;
	/** Whether several items may ask at once: its token was accepted. */
	isAccepted: boolean;
	rejection?: InputError;
	pause?: RunningPause;
	/** One item that asks alone: the others wait for it, and have no token where it has none. Never rejects. */
	asking?: Promise<WithoutToken | undefined>;
}

/** The accounts of each session, by their key. n8n drops a session's object, and this goes with it. */
const sessions = new WeakMap<object, Map<string, KnownAccount>>();

/** About 1 MB. One that is dropped costs one request more, behind a wait, which says 429 again. */
const MOST_PAUSES = 5_000;
/** Until when a pause lasts that a service gave a time for, by execution and account: it outlasts a wait. */
const pausedUntil = new BoundedMap<string, number>(MOST_PAUSES);

/** Sends a request; gives its result, and what its response said of the account. */
type Ask<Result> = () => Promise<{ result: Result; standing: Standing }>;

/** Which accounts an execution may send with. */
export class AccountGate {
	/** By their key, for all gates of this session. */
	private readonly accounts: Map<string, KnownAccount>;
	/** Where the credential has no expression, all items have the same object. */
	private readonly known = new WeakMap<Account, KnownAccount>();

	constructor(private readonly session: Session) {
		const { identity } = session;
		this.accounts = sessions.get(identity) ?? new Map<string, KnownAccount>();
		sessions.set(identity, this.accounts);
	}

	/**
	 * Lets an item ask, one at a time until the account's token was accepted.
	 * @param ask sends the item's request
	 * @returns what `ask` came to, or why the account is not asked: it is rejected, or the service asked for
	 * a pause that still lasts
	 */
	async pass<Result>(account: Account, ask: Ask<Result>): Promise<Result | InputError | Pause> {
		const known = this.knownOf(account);
		while (known.asking !== undefined) {
			const without = await known.asking;
			if (without !== undefined) return without.error;
		}
		if (known.rejection !== undefined) return known.rejection;
		const pause = this.pauseOf(known);
		if (pause !== undefined) return pause;
		if (known.isAccepted) return await this.askFor(known, ask);
		const pending = ask();
		known.asking = pending.then(
			({ standing }) => (standing instanceof WithoutToken ? standing : undefined),
			() => undefined,
		);
		try {
			return await this.askFor(known, async () => await pending);
		} finally {
			known.asking = undefined;
		}
	}

	/** Sends a request, and notes how its account stands afterwards. */
	private async askFor<Result>(known: KnownAccount, ask: Ask<Result>): Promise<Result> {
		const { result, standing } = await ask();
		if (standing === undefined || standing instanceof WithoutToken) return result;
		if (standing instanceof Pause) this.beginPause(known, standing);
		else if (standing === 'tokenAccepted') known.isAccepted = true;
		else if (standing === 'tokenReplaced') known.isAccepted = false;
		else known.rejection ??= standing;
		return result;
	}

	private beginPause(known: KnownAccount, { seconds }: Pause): void {
		const shortWaits = this.session.countShortWaits();
		if (seconds === undefined) {
			// One that has an end is not forgotten for one that has none.
			known.pause ??= { shortWaits };
			return;
		}
		const until = performance.now() + 1000 * seconds;
		known.pause = { until, shortWaits };
		const { executionId } = this.session;
		// Beyond the session.
		if (executionId !== undefined) pausedUntil.set(`${executionId} ${known.key}`, until);
	}

	/** What is left of the pause of an account; undefined where it is over. */
	private pauseOf(known: KnownAccount): Pause | undefined {
		const { pause } = known;
		if (pause === undefined) return undefined;
		if (pause.until !== undefined) {
			const left = pause.until - performance.now();
			if (left > 0) return new Pause(Math.ceil(left / 1000));
		} else if (this.session.countShortWaits() === pause.shortWaits) {
			return new Pause(undefined);
		}
		known.pause = undefined;
		return undefined;
	}

	private knownOf(account: Account): KnownAccount {
		let known = this.known.get(account);
		if (known === undefined) {
			const key = accountKey(account);
			known = this.accounts.get(key) ?? this.newlyKnown(key);
			this.accounts.set(key, known);
			this.known.set(account, known);
		}
		return known;
	}

	private newlyKnown(key: string): KnownAccount {
		const until = pausedUntil.get(`${this.session.executionId} ${key}`);
		const pause = until === undefined ? undefined : { until, shortWaits: 0 };
		return { key, isAccepted: false, pause };
	}
}
