/** Who may open the pages of the examples: the forms of the register, and the page of "payouts". */
export const PERSON = { user: 'person', password: 'a password' };
