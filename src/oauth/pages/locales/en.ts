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
    lastTry: 'Another wrong try ends this sign-in.',
    tooMany: waitSec =>
      `Too many wrong passwords. Wait ${waitSec} ${waitSec === 1 ? 'second' : 'seconds'}, then try again.`,
  },
  consent: {
    heading: client => `Allow ${client}?`,
    signedInAs: username => html`You are signed in as ${username}.`,
    asksFor: client => `${client} asks for`,
    nothing: 'nothing but to know that it is you.',
    allow: 'Allow',
    deny: 'Deny',
    back: destination => html`Either way you go back to ${destination}.`,
    app: scheme => `the app ${scheme}`,
    scopes: { offline_access: 'Keep this access while you are away' },
  },
  messages: {
    answeredElsewhere: {
      title: 'This was answered in another window',
      text: 'The application has its answer already. Go back to it; you can close this window.',
    },
    busy: {
      title: 'Too many people are signing in',
      text: 'Wait a moment, then go back to the form and send it again.',
    },
    expired: {
      title: 'This sign-in has expired',
      text: 'It was not finished in time, or its address is not complete. Go back to the application and start again.',
    },
    finished: {
      title: 'This sign-in is finished',
      text: 'You have answered already. Go back to the application; you can close this window.',
    },
    foreign: {
      title: 'This sign-in belongs to another browser',
      text: 'It can only be finished where it was begun, from its own page and with cookies allowed. Go back to the application and start again.',
    },
    unaddressed: {
      title: 'This link does not work',
      text: 'The application that sent you here asked in a way that cannot be answered. Go back to it and try again; if that does not help, tell the people who run it.',
    },
    unreadable: {
      title: 'This form cannot be read',
      text: 'Something between this browser and the server has changed it. Go back to the application and start again.',
    },
    refused: {
      title: 'This request cannot be answered',
      text: 'It did not arrive as a browser sends it. Go back to the application and start again.',
    },
    refusedSlow: {
      title: 'This took too long',
      text: 'The request did not arrive in time. Reload this page to try again.',
    },
    refusedTooMany: { title: 'Too many requests', text: 'Wait a moment, then reload this page.' },
    refusedBroken: {
      title: 'Something went wrong here',
      text: 'Go back to the application and start again. If that does not help, tell the people who run this server.',
    },
    refusedUnavailable: {
      title: 'Signing in is not possible right now',
      text: 'Wait a moment, then reload this page.',
    },
  },
  forDevelopers: 'For its developers:',
}
