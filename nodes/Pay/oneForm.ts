/** One spelling of what looks alike: without spaces around it, in Unicode's form NFC. */
export const inOneForm = (text: string) => text.trim().normalize('NFC');
