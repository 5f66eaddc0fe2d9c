import { html } from '../html.ts'
import type { Texts } from './texts.ts'

export const english: Texts = {
  lang: 'en',
  signIn: {
    title: client => `Sign in to ${client}`,
    failedTitle: client => `Not signed in: Sign in to ${client}`,
    heading: 'Sign in',
    lead: client => html`to continue to ${client}`,
    username: 'Username',
    password: 'Password',
    submit: 'Sign in',
    cancel: 'Cancel',
    wrong: 'Username and password do not match.',
    lastTry: 'After one more wrong password, this sign-in ends.',
    tooMany: waitSec =>
      `Too many wrong passwords. Wait ${waitSec} ${waitSec === 1 ? 'second' : 'seconds'}, then try again.`,
  },
  consent: {
    heading: client => `Allow ${client}?`,
    signedInAs: username => html`You are signed in as ${username}.`,
    asksFor: client => `${client} asks for`,
    nothing: 'your identity and nothing else.',
    allow: 'Allow',
    deny: 'Deny',
    back: destination => html`In both cases you go back to ${destination}.`,
    app: scheme => `the app ${scheme}`,
    scopes: { offline_access: 'Keep this access while you are away' },
  },
  messages: {
    answeredElsewhere: {
      title: 'This was answered in another window',
      text: 'The application already has its answer. Go back to it. You can close this window.',
    },
    busy: {
      title: 'Too many people are signing in',
      text: 'Wait a moment, then go back to the form and send it again.',
    },
    expired: {
      title: 'This sign-in has expired',
      text: 'It was not finished in time, or the address of this page is incomplete. Go back to the application and start again.',
    },
    finished: {
      title: 'This sign-in is finished',
      text: 'You have already answered. Go back to the application. You can close this window.',
    },
    foreign: {
      title: 'This sign-in belongs to another browser',
      text: 'You can finish it only in the browser in which it was started, on its own page and with cookies allowed. Go back to the application and start again.',
    },
    unaddressed: {
      title: 'This link does not work',
      text: 'The application that sent you here made an invalid request. Go back to it and try again. If that does not help, contact the operator of the application.',
    },
    unreadable: {
      title: 'This form cannot be read',
      text: 'It was changed on the way from this browser to the server. Go back to the application and start again.',
    },
    refused: {
      title: 'This request cannot be answered',
      text: 'The server received an invalid request. Go back to the application and start again.',
    },
    refusedSlow: {
      title: 'This took too long',
      text: 'The request did not arrive in time. Reload this page to try again.',
    },
    refusedTooMany: { title: 'Too many requests', text: 'Wait a moment, then reload this page.' },
    refusedBroken: {
      title: 'Something went wrong here',
      text: 'Go back to the application and start again. If that does not help, contact the operator of this server.',
    },
    refusedUnavailable: {
      title: 'Signing in is not possible right now',
      text: 'Wait a moment, then reload this page.',
    },
  },
  forDevelopers: 'For the developers of the application:',
}
