import { begin } from './begin';
import { description, option } from './form';
import { receive } from './receive';

/** Pauses the execution until a postback of its charge or payment comes. */
export const waitForPostback = { option, description, execute: begin, receive };
