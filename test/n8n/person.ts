/** Who may open the pages of the examples: the forms of the register, and the page of "payouts". */
export const PERSON = { user: 'person', password: 'a password' };

const nameAndPassword = Buffer.from(`${PERSON.user}:${PERSON.password}`).toString('base64');

/** The headers of that person's requests. */
export const PASSWORD = { Authorization: `Basic ${nameAndPassword}` };
export const WRONG_PASSWORD = { Authorization: 'Basic cDp3cm9uZw==' };
